import { checkArguments } from '../../capabilities/validate-arguments.ts';
import { nearestName } from '../../retrieval/words.ts';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import { isReference, referencedTasks } from './references.ts';

/** What is known about the target of a task. */
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

/** The tasks whose results this one needs. */
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
  if (tasks.length === 0) return ['it has no tasks'];
  const ids = tasks.map(({ id }) => id);
  const taken = new Set([...ITEM_NAMES, ...plan.inputs.map(({ name }) => name)]);
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `two tasks have the id "${id}"`),
    ...ids.filter((id) => taken.has(id)).map((id) => `"${id}" is reserved and cannot be a task id`),
    ...ids
      .filter((id) => !TASK_ID.test(id))
      .map((id) => `"${id}" is not a valid task id: use only letters and digits`),
    ...inputProblems(plan),
    ...tasks.flatMap((task, i) => taskProblems(plan, task, targets[i]!).map((text) => `${task.id} ${text}`)),
    ...circleOf(tasks),
    ...referencedTasks(plan.result)
      .filter((id) => !ids.includes(id) && !plan.inputs.some(({ name }) => name === id))
      .map((id) => `its result refers to "${id}", which is not a task or an input`),
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
    ...strange.map((id) => `depends on "${id}", which is not a task${meant(id, others)}`),
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
    return `refers to "${name}", which is not a task${meant(name, inside)}`;
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
    // Of tasks with the same id the last is enough: duplicates are reported separately.
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

/** What is known about an argument before the call: its value, or only that it has one. */
interface Given {
  readonly kind: string;
  /** Of kind `literal`. */
  readonly value?: unknown;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** Certain errors in the arguments of a call, worded to follow the name of its target. */
export function argumentProblems(
  schema: unknown,
  bindings: Readonly<Record<string, Given>>,
  /** False when there may be more than these. */
  isComplete: boolean,
): string[] {
  const { properties = {}, required = [], additionalProperties } = (schema ?? {}) as ObjectSchema;
  const given = Object.keys(bindings);
  const isKnown = (name: string) => Object.hasOwn(properties, name);
  const missing = isComplete ? required.filter((name) => !Object.hasOwn(bindings, name)) : [];
  const strange = additionalProperties === false ? given.filter((name) => !isKnown(name)) : [];
  return [
    ...missing.map((name) => {
      const meant = nearestName(
        name,
        given.filter((other) => !isKnown(other)),
      );
      return `lacks the argument "${name}"${meant ? `; "${meant}" is not one of its arguments` : ''}`;
    }),
    ...strange.map((name) => {
      const nearest = nearestName(name, Object.keys(properties));
      return `has no argument "${name}"${nearest ? `, only "${nearest}"` : ''}`;
    }),
    ...given.flatMap((name) => {
      const binding = bindings[name];
      if (binding?.kind !== 'literal' || !isKnown(name)) return [];
      return checkArguments(properties[name], binding.value).map(
        (text) => `takes a different "${name}": ${text}`,
      );
    }),
  ];
}

interface Node {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * Kahn's algorithm by layers: a task stands in the first layer after all it depends on, tasks of one
 * layer in the order given. A cycle is an error that shows its path.
 */
export function layersOf(tasks: readonly Node[]): string[][] {
  const known = new Set(tasks.map((task) => task.id));
  const layers: string[][] = [];
  const placed = new Set<string>();
  while (placed.size < tasks.length) {
    const ready = tasks.filter(
      (task) => !placed.has(task.id) && task.dependsOn.every((id) => placed.has(id) || !known.has(id)),
    );
    if (ready.length === 0) throw cycleAmong(tasks.filter((task) => !placed.has(task.id)));
    layers.push(ready.map((task) => task.id));
    for (const task of ready) placed.add(task.id);
  }
  return layers;
}

/** Walks back along unplaced dependencies until a task comes round again. */
function cycleAmong(tasks: readonly Node[]): PmlError {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const path: string[] = [];
  let current: Node | undefined = tasks[0];
  while (current && !path.includes(current.id)) {
    path.push(current.id);
    current = current.dependsOn.map((id) => byId.get(id)).find((task) => task !== undefined);
  }
  const loop = current ? [...path.slice(path.indexOf(current.id)), current.id].reverse() : path;
  return new PmlError(
    'invalid_argument',
    `The tasks depend on each other in a circle: ${loop.join(' -> ')}`,
    {
      hint: 'Remove one of them from "depends_on".',
    },
  );
}
