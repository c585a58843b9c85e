import type { ValuePath } from '../../graph/graph-edge.ts';
import type { TypedGraph } from '../../graph/typed-graph.ts';
import type { SketchedTask } from './plan-sketch.ts';

/** `items[3].id` as list, place in it, and rest. */
const ITEM = /^(.*?)\[(\d+)\](.*)$/s;
/** A top-level argument: what lies deeper is not filled in by itself. */
const TOP_LEVEL = /^[A-Za-z_$][\w$-]*$/;

/** Where a value comes from. */
export interface ValueSource {
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
}

/** For each argument the place it was seen to come from most often. */
export function sourcesFor(
  task: SketchedTask,
  earlier: readonly { readonly at: number; readonly task: SketchedTask }[],
  graph: TypedGraph,
): ReadonlyMap<string, ValueSource> {
  const best = new Map<string, ValueSource>();
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
