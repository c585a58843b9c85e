import type { Condition, Task, TaskBody } from '../../vocabulary/plan.ts';
import { usedTasks } from '../plan/validate-plan.ts';

/**
 * What may have effects keeps its place among all calls. What calls nothing waits for none; code that the program
 * itself has made a step may fail on purpose, so that what has effects waits for it.
 */
export type Effect = 'computes' | 'checks' | 'reads' | 'writes';

export interface DraftedTask {
  readonly body: TaskBody;
  /** What it would like to be called. */
  readonly hint: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Those it gets by `deps`, whether or not it refers to them. */
  readonly deps?: readonly string[];
  readonly forEach?: unknown;
  readonly name?: string;
  readonly effect: Effect;
  /** All that has to hold for it to run. */
  readonly conditions: readonly Condition[];
}

interface Placed {
  readonly task: Task;
  readonly effect: Effect;
  /** All it comes after, directly or not. */
  readonly before: ReadonlySet<string>;
  /** What has to hold for it to run, that of those it uses included; as JSON. */
  readonly guards: ReadonlySet<string>;
}

/**
 * Tasks in the order in which a program comes to them. One waits for those whose results it uses, and, where it or
 * the other may have effects, for those before it; what only reads runs side by side.
 */
export class PlanDraft {
  readonly #placed = new Map<string, Placed>();
  readonly #taken: Set<string>;
  /** Where the calls that the program makes at once begin; null outside of such. */
  #groupStart: number | null = null;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  get tasks(): Task[] {
    return [...this.#placed.values()].map(({ task }) => task);
  }

  /** What `work` adds is begun at once. */
  together(work: () => void): void {
    const outer = this.#groupStart;
    this.#groupStart ??= this.#placed.size;
    work();
    this.#groupStart = outer;
  }

  /** A task of the same body and arguments that is there already; code that calls nothing need not run twice. */
  same(code: string, args: DraftedTask['arguments'], conditions: readonly Condition[]): string | undefined {
    const guards = JSON.stringify(conditions);
    return this.tasks.find(
      (task) =>
        task.code === code &&
        JSON.stringify(task.arguments) === JSON.stringify(args) &&
        JSON.stringify(conditionsOf(task.when)) === guards,
    )?.id;
  }

  add(drafted: DraftedTask): string {
    const { body, arguments: args, deps = [], forEach, name, effect, conditions } = drafted;
    const id = this.#newId(drafted.hint);
    const known = new Set(this.#placed.keys());
    const bare = { ...body, id, arguments: args, ...(forEach !== undefined && { forEach }) };
    const when = whenOf(withoutKnown({ ...bare, dependsOn: [] } as Task, conditions, known));
    const whole = { ...bare, ...(when !== undefined && { when }) };
    const needed = new Set([...deps, ...usedTasks({ ...whole, dependsOn: [] } as Task, known)]);
    for (const other of this.#orderBefore(effect, needed)) needed.add(other);
    const task = { ...whole, dependsOn: [...needed], ...(name !== undefined && { name }) } as Task;
    const before = new Set([...needed].flatMap((one) => [one, ...this.#placed.get(one)!.before]));
    const guards = new Set([
      ...conditions.map((one) => JSON.stringify(one)),
      ...conditions.flatMap((one) => this.#guardsBehind(one)),
      ...usedTasks({ ...task, dependsOn: [] }, known).flatMap((one) => [...this.guardsOf(one)]),
    ]);
    this.#placed.set(id, { task, effect, before, guards });
    return id;
  }

  /** What has to hold for a task to have run. */
  guardsOf(id: string): ReadonlySet<string> {
    return this.#placed.get(id)?.guards ?? new Set();
  }

  /** Those of the tasks it would use that may not have run when these conditions hold. */
  uncertain(ids: readonly string[], conditions: readonly Condition[]): string[] {
    const held = new Set([
      ...conditions.map((one) => JSON.stringify(one)),
      ...conditions.flatMap((one) => this.#guardsBehind(one)),
    ]);
    return ids.filter((id) => [...this.guardsOf(id)].some((guard) => !held.has(guard)));
  }

  /** That a task ran means that all held which it needed to run. */
  #guardsBehind(condition: Condition): string[] {
    return [...this.#placed.keys()]
      .filter((id) => isExistenceOf(condition, [id]))
      .flatMap((id) => [...this.guardsOf(id)]);
  }

  /** The nearest ones before it that it must not overtake. */
  #orderBefore(effect: Effect, needed: ReadonlySet<string>): string[] {
    if (effect === 'computes' || effect === 'checks') return [];
    const all = [...this.#placed];
    const earlier = all.slice(0, this.#groupStart ?? all.length).toReversed();
    const covered = new Set([...needed].flatMap((id) => [id, ...this.#placed.get(id)!.before]));
    const order: string[] = [];
    for (const [id, placed] of earlier) {
      const areFree = placed.effect === 'computes' || (placed.effect !== 'writes' && effect === 'reads');
      if (covered.has(id) || areFree) continue;
      order.push(id);
      for (const one of [id, ...placed.before]) covered.add(one);
    }
    return order;
  }

  #newId(hint: string): string {
    const base = hint.replace(/[^\p{L}\p{N}_-]+/gu, '_').slice(0, 48) || 'task';
    let id = base;
    for (let n = 2; this.#taken.has(id); n++) id = `${base}${n}`;
    this.#taken.add(id);
    return id;
  }
}

function isExistenceOf(condition: Condition, ids: readonly string[]): boolean {
  return (
    typeof condition === 'object' &&
    'exists' in condition &&
    ids.some((id) => condition.exists === `\${${id}}`)
  );
}

/** Without repeats, and without asking whether tasks ran whose results are used anyway. */
function withoutKnown(task: Task, conditions: readonly Condition[], known: ReadonlySet<string>): Condition[] {
  const once = [
    ...new Map(conditions.flatMap(conditionsOf).map((one) => [JSON.stringify(one), one])).values(),
  ];
  const others = once.filter((one) => !isExistenceOf(one, [...known]));
  const used = usedTasks({ ...task, when: { all: others } }, known);
  return once.filter((one) => !isExistenceOf(one, used));
}

/** One condition as it is, several as one. */
function whenOf(conditions: readonly Condition[]): Condition | undefined {
  const flat = conditions.flatMap(conditionsOf);
  return flat.length <= 1 ? flat[0] : { all: flat };
}

/** What all has to hold for it to hold. */
export function conditionsOf(condition: Condition | undefined): readonly Condition[] {
  if (condition === undefined) return [];
  return typeof condition === 'object' && 'all' in condition
    ? condition.all.flatMap(conditionsOf)
    : [condition];
}
