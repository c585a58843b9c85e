import type { ValueShape } from '../tracing/value-flow.ts';

const DEFAULTS = {
  /** Most value paths kept per edge; loops over a list would add one for every index. */
  kept: 32,
};

/** A value moved from a path in a result to a path in the arguments. */
export interface ValuePath extends ValueShape {
  /** Path into the result: `items[0].id`; empty for the whole result. */
  readonly fromPath: string;
  /** Path into the arguments. */
  readonly toPath: string;
  /** Number of runs in which it moved. */
  readonly runs: number;
}

export type PathPair = Omit<ValuePath, 'runs'>;

/**
 * Adds a run's value paths to the counts. The first in a fixed order are kept (the shortest, then by text), not
 * the most frequent: a path that is among the first of all paths is also among the first of any subset, so it is
 * never dropped in between, and counts are exact whatever the order of runs.
 */
export function countPaths(known: readonly ValuePath[], seen: readonly PathPair[]): readonly ValuePath[] {
  const paths = new Map(known.map((path) => [keyOf(path), path]));
  for (const [key, pair] of new Map(seen.map((pair) => [keyOf(pair), pair]))) {
    paths.set(key, { ...pair, runs: (paths.get(key)?.runs ?? 0) + 1 });
  }
  return [...paths.values()].sort(comparePaths).slice(0, DEFAULTS.kept);
}

function keyOf(pair: PathPair): string {
  return `${pair.fromPath.length} ${pair.fromPath}${pair.toPath} ${shapeOf(pair)}`;
}

function shapeOf({ line, isPart, beside, isInside }: PathPair): string {
  return JSON.stringify([line ?? null, isPart ?? null, beside ?? null, isInside ?? null]);
}

function comparePaths(a: PathPair, b: PathPair): number {
  const lengths = a.fromPath.length + a.toPath.length - b.fromPath.length - b.toPath.length;
  if (lengths !== 0) return lengths;
  if (a.fromPath !== b.fromPath) return a.fromPath < b.fromPath ? -1 : 1;
  if (a.toPath !== b.toPath) return a.toPath < b.toPath ? -1 : 1;
  const [left, right] = [shapeOf(a), shapeOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
