import type { TypedGraph } from '../../graph/typed-graph.ts';
import type { ValuePath } from '../../graph/value-paths.ts';
import type { Plan, PlanInput, Task } from '../../vocabulary/plan.ts';
import { isReference, referencedTasks } from '../plan/references.ts';
import { layersOf } from '../plan/validate-plan.ts';
import type { FilledArgument } from './fill-arguments.ts';
import { ancestorsOf, nameOf, type PlanSketch, type SketchedEdge, type SketchedTask } from './plan-sketch.ts';

/** Why one task waits for another. */
export interface PlanEdge {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export interface SuggestedPlan {
  readonly plan: Plan;
  /** One for each dependency of the plan. */
  readonly edges: readonly PlanEdge[];
  /** Names of arguments that were filled in and are not certain. */
  readonly guesses: readonly string[];
}

/** An argument with its references, the list it is one of, and what has to be done for it first. */
interface WiredArgument {
  readonly value: string;
  readonly list?: string;
  readonly between?: Task;
}

/** What past calls say of a task's arguments; `planned`: by tool, the ids of the tasks before it. */
export type Fill = (
  task: SketchedTask,
  planned: ReadonlyMap<string, string>,
) => ReadonlyMap<string, FilledArgument>;

/** Puts work behind a task, once. */
type Put = (work: BetweenTask, from: Task, confidence: number) => Task;

/**
 * A plan in an order in which it can run: arguments that were seen to come from an earlier task refer to
 * it, others have what past calls say by analogy, and what is left is asked for: inputs with their schemas. Values taken from item after item of a list,
 * or line after line of a text, make their task run once for each; what such a task gave and one argument
 * took together is joined.
 */
export function wireArguments(
  sketch: PlanSketch,
  graph: TypedGraph,
  fill: Fill = () => new Map(),
): SuggestedPlan {
  const { tasks, edges } = sketch;
  const before = tasks.map((_, i) => edges.filter(({ to }) => to === i));
  const order = layersOf(
    tasks.map((_, i) => ({ id: String(i), dependsOn: before[i]!.map(({ from }) => String(from)) })),
  )
    .flat()
    .map(Number);
  const idOf = new Map(order.map((place, i) => [place, `t${i + 1}`]));
  const ancestors = ancestorsOf(sketch);
  const inputs = createInputs();
  const guesses = new Set<string>();
  /** By place, as they are so far; and what was put between. */
  const made = new Map<number, Task>();
  const between = new Map<string, Task>();

  const put: Put = ({ name, arguments: given, ...rest }, from, confidence) => {
    const alike = [...between.values()].filter(({ id }) => id.startsWith(`${from.id}-${name}`));
    const same = alike.find((task) => JSON.stringify(task.arguments) === JSON.stringify(given));
    if (same) return same;
    const id = `${from.id}-${name}${alike.length === 0 ? '' : alike.length + 1}`;
    const task = { id, name, ...rest, arguments: given, dependsOn: [from.id], confidence };
    between.set(id, task);
    return task;
  };

  for (const place of order) {
    const task = tasks[place]!;
    const id = idOf.get(place)!;
    const earlier = [...ancestors[place]!].map((at) => ({ at, task: tasks[at]! }));
    const sources = sourcesFor(task, earlier, graph);
    const filled = fill(task, plannedBefore(order, place, tasks, idOf));
    const args = new Map<string, unknown>();
    const needed: string[] = [];
    let list: string | undefined;
    for (const name of givenTo(task, filled, sources)) {
      const known = filled.get(name);
      const source = sources.get(name);
      const wired =
        known?.isSaid || !source
          ? null
          : wire(source, made.get(source.task)!, (work, from) => put(work, from, task.chance));
      if (wired && (!wired.list || list === undefined || list === wired.list)) {
        list ??= wired.list;
        args.set(name, wired.value);
        if (wired.between) needed.push(wired.between.id);
      } else if (known?.isSure) {
        args.set(name, known.value);
        if (!known.isCertain) guesses.add(name);
        needed.push(...referencedTasks(known.value));
      } else args.set(name, `\${${inputs.ask(task, name, known?.value)}}`);
    }
    made.set(place, {
      id,
      ...task.body,
      arguments: Object.fromEntries(args),
      dependsOn: [...new Set([...before[place]!.map(({ from }) => idOf.get(from)!), ...needed])],
      reason: reasonOf(task, before[place]!),
      confidence: task.chance,
      ...(list !== undefined && { forEach: list }),
    });
  }
  const reasons = [
    ...edges.map(({ from, to, reason }) => ({ from: idOf.get(from)!, to: idOf.get(to)!, reason })),
    ...edgesAround([...made.values()], between),
  ];
  const plan = { tasks: inOrder([...made.values()], between), inputs: inputs.all };
  return { plan, edges: reasons, guesses: [...guesses] };
}

/** Null if it is unknown how the value is made from the result of the task. */
function wire(
  source: ValueSource,
  from: Task,
  put: (work: BetweenTask, from: Task) => Task,
): WiredArgument | null {
  const { path, each, bullet, beside, isInside } = source;
  const isList = from.forEach !== undefined;
  const folder = beside === undefined ? '' : from.arguments[beside];
  // What a task was given for each item is not known outside of it.
  if (typeof folder !== 'string' || (isList && beside !== undefined)) return null;
  const behind = (value: string) => (folder === '' ? value : `${folder}/${value}`);
  if (isList && isInside) {
    const joining = joinedFrom(`\${${from.id}}`, path);
    const joined = joining && put(joining, from);
    if (joined) return { value: `\${${joined.id}}`, between: joined };
  }
  // Of what ran for each item the first result: which of them was meant is not known.
  const root = isList ? `${from.id}[0]` : from.id;
  if (bullet !== undefined) {
    const lines = put(linesOf(`\${${pathFrom(root, path)}}`, bullet), from);
    return { value: behind('${item}'), list: `\${${lines.id}}`, between: lines };
  }
  if (!each) return { value: behind(`\${${pathFrom(root, path)}}`) };
  return {
    value: behind(`\${${pathFrom('item', each.rest)}}`),
    list: `\${${pathFrom(root, each.list)}}`,
  };
}

/** Each task right after what it was made from. */
function inOrder(tasks: readonly Task[], between: ReadonlyMap<string, Task>): Task[] {
  return tasks.flatMap((task) => [
    task,
    ...between.values().filter(({ dependsOn }) => dependsOn[0] === task.id),
  ]);
}

function edgesAround(tasks: readonly Task[], between: ReadonlyMap<string, Task>): PlanEdge[] {
  const into = [...between.values()].map(({ id, dependsOn, reason }) => ({
    from: dependsOn[0]!,
    to: id,
    reason: reason!,
  }));
  const outOf = tasks.flatMap(({ id, dependsOn }) =>
    dependsOn.flatMap((from) => {
      const task = between.get(from);
      return task ? [{ from, to: id, reason: task.reason! }] : [];
    }),
  );
  return [...into, ...outOf];
}

/** Also why it waits for other tasks. */
function reasonOf({ reason }: SketchedTask, before: readonly SketchedEdge[]): string {
  return [reason, ...before.map((edge) => edge.reason)].join('; ');
}

function pathFrom(root: string, path: string): string {
  const rest = path.replace(/^\./, '');
  return rest === '' ? root : rest.startsWith('[') ? `${root}${rest}` : `${root}.${rest}`;
}

/** The required arguments, and others that past calls used. */
function givenTo(
  { schema }: SketchedTask,
  filled: ReadonlyMap<string, FilledArgument>,
  sources: ReadonlyMap<string, ValueSource>,
): Set<string> {
  const known = Object.keys((schema as { properties?: object } | null)?.properties ?? {});
  const hasDefault = (name: string) => Object.hasOwn(propertyOf(schema, name) as object, 'default');
  const usual = known.filter(
    (name) =>
      (filled.has(name) && (filled.get(name)!.isSure || !hasDefault(name))) ||
      (sources.get(name)?.isUsual ?? false),
  );
  return new Set([...requiredOf(schema), ...usual]);
}

/** By tool, the ids of the tasks that come before this one; of a tool that is used twice the last. */
function plannedBefore(
  order: readonly number[],
  place: number,
  tasks: readonly SketchedTask[],
  idOf: ReadonlyMap<number, string>,
): ReadonlyMap<string, string> {
  const before = order.slice(0, order.indexOf(place));
  return new Map(before.map((at) => [tasks[at]!.gives ?? tasks[at]!.node, idOf.get(at)!]));
}

/** The inputs to ask for, under names that a person understands: `path`, or `write_file_path` if `path` is taken. */
function createInputs() {
  const all: PlanInput[] = [];
  const isTaken = (name: string) => all.some((known) => known.name === name);
  return {
    all,
    ask(task: SketchedTask, argument: string, guess: unknown): string {
      const own = argument.replaceAll(/[^\p{L}\p{N}_-]/gu, '_');
      const tool = nameOf(task)
        .split(':')
        .at(-1)!
        .replaceAll(/[^\p{L}\p{N}_-]/gu, '_');
      let name = isTaken(own) || /^t\d+$/.test(own) ? `${tool}_${own}` : own;
      for (let count = 2; isTaken(name); count++) name = `${tool}_${own}_${count}`;
      const schema = propertyOf(task.schema, argument);
      const told = (schema as { description?: unknown } | null)?.description;
      const described = typeof told === 'string' ? told : `${argument} of ${nameOf(task)}`;
      const known = guess === undefined || isReference(guess) ? {} : { default: guess };
      all.push({ name, schema: { ...(schema as object), ...known }, description: described });
      return name;
    },
  };
}

function requiredOf(schema: unknown): string[] {
  const required = (schema as { required?: unknown } | null)?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function propertyOf(schema: unknown, name: string): unknown {
  return (schema as { properties?: Record<string, unknown> } | null)?.properties?.[name] ?? {};
}

/** Paths come from results of servers: only plain names are followed, and only as data. */
const PLAIN = /^[\w$]+(?:\.[\w$]+)*$/;

const LINES = `return args.text
  .split('\\n')
  .map((line) => line.trim())
  .filter((line) => line !== args.bullet.trim() && line.startsWith(args.bullet))
  .map((line) => line.slice(args.bullet.length));`;

const JOINED = `return args.results
  .map((result) => args.path.reduce((value, name) => value[name], result))
  .join('\\n');`;

/** Code between two tasks when a value does not fit as it is; the same for all plans. */
export interface BetweenTask {
  readonly name: 'lines' | 'joined';
  readonly code: string;
  readonly arguments: Task['arguments'];
  readonly reason: string;
}

/** A text's lines that begin with a bullet, without it: `[FILE] a.txt` as `a.txt`. */
function linesOf(text: string, bullet: string): BetweenTask {
  const which = bullet === '' ? 'its lines' : `its lines that begin with "${bullet.trim()}"`;
  return {
    name: 'lines',
    code: LINES,
    arguments: { text, bullet },
    reason: `past runs went through ${which}`,
  };
}

/** What each result of a list has at a path, below one another. Null if the path is not plain enough to follow. */
function joinedFrom(list: string, path: string): BetweenTask | null {
  if (path !== '' && !PLAIN.test(path)) return null;
  return {
    name: 'joined',
    code: JOINED,
    arguments: { results: list, path: path === '' ? [] : path.split('.') },
    reason: 'past runs put several of its results into one text',
  };
}

/** `items[3].id` as list, place in it, and rest. */
const ITEM = /^(.*?)\[(\d+)\](.*)$/s;

/** A top-level argument: what lies deeper is not filled in by itself. */
const TOP_LEVEL = /^[A-Za-z_$][\w$-]*$/;

/** Where a value comes from. */
interface ValueSource {
  /** Place of the task. */
  readonly task: number;
  /** Into its result. */
  readonly path: string;
  /** Of a list that was gone through: the list, and the way to the value in each item. */
  readonly each?: { readonly list: string; readonly rest: string };
  /** Of a text whose lines were gone through: what stands before those that were taken. */
  readonly bullet?: string;
  /** The argument of that task the value was put behind. */
  readonly beside?: string;
  /** The argument had more than the value. */
  readonly isInside: boolean;
  readonly runs: number;
  /** In most runs in which one followed the other. */
  readonly isUsual?: boolean;
}

/** For each argument the place it was seen to come from most often. */
function sourcesFor(
  task: SketchedTask,
  earlier: readonly { readonly at: number; readonly task: SketchedTask }[],
  graph: TypedGraph,
): ReadonlyMap<string, ValueSource> {
  const best = new Map<string, ValueSource>();
  for (const { at, task: from } of earlier) {
    const edge = graph.edge(from.gives ?? from.node, task.node, 'provides');
    if (!edge || edge.observedCount === 0) continue;
    const isRepeated = edge.invocationCount > edge.observedCount;
    for (const [name, paths] of Map.groupBy(edge.valuePaths, ({ toPath }) => toPath)) {
      if (!TOP_LEVEL.test(name)) continue;
      const source = sourceOf(at, paths, isRepeated);
      const isUsual = source !== null && source.runs * 2 > edge.observedCount;
      if (source && source.runs > (best.get(name)?.runs ?? 0)) best.set(name, { ...source, isUsual });
    }
  }
  return best;
}

/** Null where it cannot be told which part of a text was taken, or by what rule. */
function sourceOf(task: number, paths: readonly ValuePath[], isRepeated: boolean): ValueSource | null {
  const told = paths.filter(({ isPart, beside, isInside }) => !isPart && !(beside && isInside));
  const whole = told.filter(({ line }) => line === undefined);
  return (
    (isRepeated ? (throughItems(task, whole) ?? throughLines(task, told)) : null) ??
    asItStood(task, whole, isRepeated)
  );
}

function throughItems(task: number, paths: readonly ValuePath[]): ValueSource | null {
  const items = paths.flatMap((path) => {
    const [, list, , rest] = ITEM.exec(path.fromPath) ?? [];
    return list === undefined ? [] : [{ list, rest: rest!, path }];
  });
  const alike = Map.groupBy(items, ({ list, rest, path }) => `${list}[]${rest} ${path.beside ?? ''}`);
  const like = alike.values().find(({ length }) => length > 1);
  if (!like) return null;
  const { list, rest, path } = like[0]!;
  const runs = Math.max(...like.map((each) => each.path.runs));
  return { ...placed(task, path), path: list, each: { list, rest }, runs };
}

function throughLines(task: number, paths: readonly ValuePath[]): ValueSource | null {
  const most = mostSeen(paths.filter(({ line, isInside }) => line !== undefined && !isInside));
  return most ? { ...placed(task, most), bullet: most.line! } : null;
}

function asItStood(task: number, paths: readonly ValuePath[], isRepeated: boolean): ValueSource | null {
  const most = mostSeen(paths);
  return !most || (isRepeated && most.fromPath === '') ? null : placed(task, most);
}

function mostSeen(paths: readonly ValuePath[]): ValuePath | undefined {
  const [first, ...rest] = paths;
  return first && rest.reduce((best, path) => (path.runs > best.runs ? path : best), first);
}

function placed(task: number, { fromPath, beside, isInside, runs }: ValuePath): ValueSource {
  const behind = beside === undefined ? {} : { beside };
  return { task, path: fromPath, ...behind, isInside: isInside === true, runs };
}
