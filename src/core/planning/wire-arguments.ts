import type { ValuePath } from '../graph/graph-edge.ts';
import type { TypedGraph } from '../graph/typed-graph.ts';
import type { Plan, PlanInput, Task } from '../vocabulary/plan.ts';
import { layersOf } from './layers.ts';
import { ancestorsOf, type PlanSketch, type SketchedEdge, type SketchedTask } from './plan-sketch.ts';

/** `items[3].id` as list, place in it, and rest. */
const ITEM = /^(.*?)\[(\d+)\](.*)$/;
/** A top-level argument: what lies deeper is not filled in by itself. */
const TOP_LEVEL = /^[A-Za-z_$][\w$-]*$/;

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
}

/** Where a value comes from. */
interface Source {
  /** Place of the task. */
  readonly task: number;
  /** Into its result. */
  readonly path: string;
  /** Of a list that was gone through: the list, and the way to the value in each item. */
  readonly each?: { readonly list: string; readonly rest: string };
  readonly runs: number;
}

/**
 * A plan in an order in which it can run: arguments that were seen to come from an earlier task refer to
 * it, the other required ones are inputs with their schemas. Values taken from item after item of a list
 * make their task run once for each item.
 */
export function wireArguments(sketch: PlanSketch, graph: TypedGraph): SuggestedPlan {
  const { tasks, edges } = sketch;
  const dependsOn = tasks.map((_, i) => edges.filter(({ to }) => to === i).map(({ from }) => String(from)));
  const order = layersOf(tasks.map((_, i) => ({ id: String(i), dependsOn: dependsOn[i]! })))
    .flat()
    .map(Number);
  const idOf = new Map(order.map((place, i) => [place, `t${i + 1}`]));
  const ancestors = ancestorsOf(sketch);
  const inputs: PlanInput[] = [];
  /** Tasks that give a list, one result for each item. */
  const lists = new Set<number>();
  const wired = order.map((place): Task => {
    const task = tasks[place]!;
    const id = idOf.get(place)!;
    const earlier = [...ancestors[place]!].map((at) => ({ at, task: tasks[at]! }));
    const sources = sourcesFor(task, earlier, graph);
    const args = new Map<string, string>();
    let list: string | undefined;
    for (const name of requiredOf(task.schema)) {
      const source = sources.get(name);
      // Of what ran for each item the first result: which of them was meant is not known.
      const from = source && `${idOf.get(source.task)!}${lists.has(source.task) ? '[0]' : ''}`;
      const wholeList = source?.each && `\${${pathFrom(from!, source.each.list)}}`;
      if (source && (!wholeList || list === undefined || list === wholeList)) {
        list ??= wholeList;
        const path = source.each ? pathFrom('item', source.each.rest) : pathFrom(from!, source.path);
        args.set(name, `\${${path}}`);
        continue;
      }
      const input = `${id}_${name.replaceAll(/[^\p{L}\p{N}_-]/gu, '_')}`;
      args.set(name, `\${${input}}`);
      if (inputs.some((known) => known.name === input)) continue;
      inputs.push({ name: input, schema: propertyOf(task.schema, name) });
    }
    if (list !== undefined) lists.add(place);
    return {
      id,
      ...task.body,
      arguments: Object.fromEntries(args),
      dependsOn: dependsOn[place]!.map((before) => idOf.get(Number(before))!),
      reason: reasonOf(
        task,
        edges.filter(({ to }) => to === place),
      ),
      confidence: task.chance,
      ...(list !== undefined && { forEach: list }),
    };
  });
  const reasons = edges.map(({ from, to, reason }) => ({ from: idOf.get(from)!, to: idOf.get(to)!, reason }));
  return { plan: { tasks: wired, inputs }, edges: reasons };
}

/** Also why it waits for what it waits for. */
function reasonOf({ reason }: SketchedTask, before: readonly SketchedEdge[]): string {
  return [reason, ...before.map((edge) => edge.reason)].join('; ');
}

/** For each argument the place it was seen to come from most often. */
function sourcesFor(
  task: SketchedTask,
  earlier: readonly { readonly at: number; readonly task: SketchedTask }[],
  graph: TypedGraph,
): ReadonlyMap<string, Source> {
  const best = new Map<string, Source>();
  for (const { at, task: from } of earlier) {
    const edge = graph.edge(from.node, task.node, 'provides');
    if (!edge || edge.observedCount === 0) continue;
    const isRepeated = edge.invocationCount > edge.observedCount;
    for (const [name, paths] of Map.groupBy(edge.valuePaths, ({ toPath }) => toPath)) {
      if (!TOP_LEVEL.test(name)) continue;
      const source = sourceOf(at, paths, isRepeated);
      if (source && source.runs > (best.get(name)?.runs ?? 0)) best.set(name, source);
    }
  }
  return best;
}

/** Null where several calls took different parts of one text: there is no telling which. */
function sourceOf(task: number, paths: readonly ValuePath[], isRepeated: boolean): Source | null {
  const items = paths.flatMap((path) => {
    const [, list, , rest] = ITEM.exec(path.fromPath) ?? [];
    return list === undefined ? [] : [{ list, rest: rest!, path }];
  });
  for (const [, like] of Map.groupBy(items, ({ list, rest }) => `${list}[]${rest}`)) {
    if (like.length < 2 || !isRepeated) continue;
    const { list, rest } = like[0]!;
    const runs = Math.max(...like.map(({ path }) => path.runs));
    return { task, path: list, each: { list, rest }, runs };
  }
  const most = paths.reduce((best, path) => (path.runs > best.runs ? path : best));
  if (isRepeated && most.fromPath === '') return null;
  return { task, path: most.fromPath, runs: most.runs };
}

function pathFrom(root: string, path: string): string {
  const rest = path.replace(/^\./, '');
  return rest === '' ? root : rest.startsWith('[') ? `${root}${rest}` : `${root}.${rest}`;
}

function requiredOf(schema: unknown): string[] {
  const required = (schema as { required?: unknown } | null)?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function propertyOf(schema: unknown, name: string): unknown {
  return (schema as { properties?: Record<string, unknown> } | null)?.properties?.[name] ?? {};
}
