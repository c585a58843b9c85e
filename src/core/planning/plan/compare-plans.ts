import type { Plan, Task } from '../../vocabulary/plan.ts';

/** How a plan differs from the one it was made of, by what tasks run; other arguments do not count. */
export interface PlanChanges {
  readonly left: readonly string[];
  readonly came: readonly string[];
  /** Those that wait for others than before, of tasks that both have. */
  readonly moved: readonly string[];
}

export function comparePlans(before: Plan, after: Plan): PlanChanges {
  const old = namesOf(before);
  const now = namesOf(after);
  const left = [...old.values()].filter((name) => ![...now.values()].includes(name));
  const came = [...now.values()].filter((name) => ![...old.values()].includes(name));
  const gone = new Set([...left, ...came]);
  const orderOf = ({ tasks }: Plan, names: ReadonlyMap<string, string>) =>
    new Map(tasks.map(({ id, dependsOn }) => [names.get(id)!, waitsFor(dependsOn, names, gone)]));
  const [first, second] = [orderOf(before, old), orderOf(after, now)];
  const moved = [...first.keys()].filter((name) => !gone.has(name) && first.get(name) !== second.get(name));
  return { left: left.map(bare), came: came.map(bare), moved: moved.map(bare) };
}

function waitsFor(
  ids: readonly string[],
  names: ReadonlyMap<string, string>,
  gone: ReadonlySet<string>,
): string {
  return ids
    .map((id) => names.get(id) ?? '')
    .filter((name) => name !== '' && !gone.has(name))
    .sort()
    .join();
}

/** What each task runs, told apart where several run the same: `disk:read`, `disk:read#2`. */
function namesOf({ tasks }: Plan): Map<string, string> {
  const seen = new Map<string, number>();
  return new Map(
    tasks.map((task) => {
      const name = whatRuns(task);
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      return [task.id, count === 1 ? name : `${name}#${count}`];
    }),
  );
}

/** A capability as `capabilities.<slug>`, code by its name. */
export function whatRuns({ tool, capability, name }: Task): string {
  if (tool !== undefined) return tool;
  return capability === undefined ? `code:${name ?? 'task'}` : `capabilities.${capability}`;
}

function bare(name: string): string {
  return name.replace(/#\d+$/, '');
}
