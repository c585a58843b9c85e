import type { ValuePath } from './graph-edge.ts';

const DEFAULTS = {
  /** Places kept per edge; loops over a list would add one for every index. */
  kept: 32,
};

export type PathPair = Omit<ValuePath, 'runs'>;

/**
 * Counts a run's places. Kept are the first in a fixed order (the shortest, then by text), not the most
 * frequent: what belongs to the first of all places ever met is among the first of any part of them, so it
 * is never dropped on the way, and counts are exact whatever the order of runs.
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
