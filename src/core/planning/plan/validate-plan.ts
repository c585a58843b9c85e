import { nearestName } from '../../retrieval/nearest-name.ts';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import { argumentProblems } from './argument-problems.ts';
import { layersOf } from './layers.ts';
import { isReference, referencedTasks } from './references.ts';

/** What is known of what a task runs. */
export interface TaskTarget {
  readonly name: string;
  /** JSON schema of its arguments. */
  readonly schema: unknown;
  /** Calling it twice does no harm. */
  readonly isRepeatable: boolean;
  /** Why it cannot run, whatever its arguments. */
  readonly problems: readonly string[];
}

/** Names that stand for something else in references. */
const ITEM_NAMES = ['item', 'index'];
const TASK_ID = /^[\p{L}\p{N}_-]+$/u;

/** The tasks whose results this one uses: these it cannot do without. */
export function usedTasks(task: Task, ids: ReadonlySet<string>): string[] {
  return referencedTasks([task.arguments, task.when, task.forEach]).filter((id) => ids.has(id));
}

/** A task that uses another's result depends on it, said or not. */
export function withUsedTasks(plan: Plan): Plan {
  const ids = new Set(plan.tasks.map(({ id }) => id));
  const tasks = plan.tasks.map((task) => ({
    ...task,
    dependsOn: [...new Set([...task.dependsOn, ...usedTasks(task, ids)])],
  }));
  return { ...plan, tasks };
}

/** Everything that is wrong with a plan, before anything of it runs. `targets` are those of its tasks, in order. */
export function planProblems(plan: Plan, targets: readonly TaskTarget[]): string[] {
  const { tasks } = plan;
  if (tasks.length === 0) return ['there are no tasks'];
  const ids = tasks.map(({ id }) => id);
  const taken = new Set([...ITEM_NAMES, ...plan.inputs.map(({ name }) => name)]);
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `two tasks have the id "${id}"`),
    ...ids.filter((id) => taken.has(id)).map((id) => `"${id}" means something else and cannot name a task`),
    ...ids
      .filter((id) => !TASK_ID.test(id))
      .map((id) => `"${id}" cannot name a task: only letters and digits`),
    ...inputProblems(plan),
    ...tasks.flatMap((task, i) => taskProblems(plan, task, targets[i]!).map((text) => `${task.id} ${text}`)),
    ...circleOf(tasks),
  ];
}

function inputProblems({ inputs, arguments: values = {} }: Plan): string[] {
  return inputs
    .filter(({ name }) => !Object.hasOwn(values, name))
    .map(({ name }) => `the input "${name}" has no value: give it in "arguments"`);
}

function taskProblems(plan: Plan, task: Task, target: TaskTarget): string[] {
  const ids = plan.tasks.map(({ id }) => id);
  const others = ids.filter((id) => id !== task.id);
  const strange = task.dependsOn.filter((id) => !ids.includes(id));
  return [
    ...target.problems,
    ...strange.map((id) => `depends on "${id}", which is no task${meant(id, others)}`),
    ...referenceProblems(plan, task, others),
    ...argumentProblems(target.schema, bindingsOf(task), true).map((text) => `(${target.name}) ${text}`),
    ...(task.retry && task.retry.attempts > 1 && !task.idempotent && !target.isRepeatable
      ? [
          `cannot be retried: ${target.name} may do harm when called twice; say "idempotent": true if it does not`,
        ]
      : []),
    ...(task.forEach === undefined || Array.isArray(task.forEach) || isReference(task.forEach)
      ? []
      : ['has a "for_each" that is neither a list nor one reference']),
  ];
}

function referenceProblems(plan: Plan, task: Task, others: readonly string[]): string[] {
  const outside = [...others, ...plan.inputs.map(({ name }) => name), ...Object.keys(plan.arguments ?? {})];
  // What decides about the whole task comes before its items.
  const inside = task.forEach === undefined ? outside : [...outside, ...ITEM_NAMES];
  const unknown = (value: unknown, names: readonly string[]) =>
    referencedTasks(value).filter((name) => !names.includes(name));
  const wrong = [...unknown(task.arguments, inside), ...unknown([task.when, task.forEach], outside)];
  return [...new Set(wrong)].map((name) => {
    if (name === task.id) return 'refers to its own result';
    if (ITEM_NAMES.includes(name))
      return `refers to "${name}", which only the arguments of a "for_each" have`;
    return `refers to "${name}", which is no task${meant(name, inside)}`;
  });
}

/** An argument that holds a reference is known only in the run. */
function bindingsOf({ arguments: args }: Task) {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      referencedTasks(value).length > 0 ? { kind: 'reference' } : { kind: 'literal', value },
    ]),
  );
}

function circleOf(tasks: readonly Task[]): string[] {
  try {
    // Of tasks with one id the last will do: that there are several is told besides.
    layersOf([...new Map(tasks.map((task) => [task.id, task])).values()]);
    return [];
  } catch (error) {
    return [PmlError.from(error).message];
  }
}

function meant(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === null ? '' : `; did you mean "${nearest}"?`;
}
