import type { ValueShape } from '../tracing/value-flow.ts';
import type { Edge, EdgeSource, EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';

const DEFAULTS = {
  /** Runs after which an edge counts as observed. */
  observedRuns: 3,
  /** Unseen for so long, an edge loses nothing. */
  graceDays: 30,
  /** After that, unseen for so long again, its source counts half. */
  halfLifeDays: 90,
  /** Places kept per edge; loops over a list would add one for every index. */
  kept: 32,
};

/** An edge as the graph keeps it. Its source follows from `observedCount`, so counts are all it learns. */
export interface GraphEdge extends Edge {
  /** Moment of the newest run that showed it, in milliseconds since 1970; null until then. */
  readonly lastSeenAt: number | null;
  /** On `provides`: where the values were found. */
  readonly valuePaths: readonly ValuePath[];
}

/** A value moved from one place in a result to one place in the arguments. */
export interface ValuePath extends ValueShape {
  /** Into the result: `items[0].id`; empty for the whole. */
  readonly fromPath: string;
  /** Into the arguments. */
  readonly toPath: string;
  /** In how many runs. */
  readonly runs: number;
}

/** What is known of a node besides its edges. */
export interface NodeStatistics {
  readonly node: NodeId;
  /** Runs in which it was called. */
  readonly runs: number;
  readonly calls: number;
  /** Calls that failed or did not end. */
  readonly failures: number;
  /** Calls that directly followed another call of the same node: what would be a self-loop. */
  readonly repeats: number;
  /** Runs with at least one such call. */
  readonly repeatRuns: number;
  /** Milliseconds since 1970. */
  readonly lastSeenAt: number | null;
}

export interface NodePair {
  readonly from: NodeId;
  readonly to: NodeId;
}

/** What a write changed: what a store needs to keep, in order. */
export interface GraphChanges {
  readonly edges: readonly GraphEdge[];
  readonly statistics: readonly NodeStatistics[];
}

/** Types that say what comes before what. */
export const ORDER_BEARING: readonly EdgeType[] = ['dependency', 'provides', 'sequence'];

const TYPE_WEIGHTS: Readonly<Record<EdgeType, number>> = {
  dependency: 1,
  contains: 0.8,
  provides: 0.7,
  alternative: 0.6,
  sequence: 0.5,
  conditional: 0.5,
};

const SOURCE_FACTORS: Readonly<Record<EdgeSource, number>> = { observed: 1, inferred: 0.7, template: 0.5 };

const DAY_MS = 86_400_000;

/** Template until first seen, inferred at one or two runs, observed from three on. */
export function sourceOf(observedCount: number): EdgeSource {
  if (observedCount >= DEFAULTS.observedRuns) return 'observed';
  return observedCount > 0 ? 'inferred' : 'template';
}

/** What an edge of this type and source is worth while it is fresh, in (0, 1]. */
export function weight(type: EdgeType, source: EdgeSource): number {
  return TYPE_WEIGHTS[type] * SOURCE_FACTORS[source];
}

/**
 * The same with age: what stops being seen fades, down to the weight of a template and not below it.
 * Age is counted to the newest run of the graph, not to the present: an idle month makes nothing fade,
 * and the same traces always give the same weights.
 */
export function fadedWeight({ type, source, lastSeenAt }: GraphEdge, newestRunAt: number | null): number {
  if (lastSeenAt === null || newestRunAt === null) return weight(type, source);
  const days = (newestRunAt - lastSeenAt) / DAY_MS - DEFAULTS.graceDays;
  const freshness = days > 0 ? 2 ** (-days / DEFAULTS.halfLifeDays) : 1;
  return TYPE_WEIGHTS[type] * Math.max(SOURCE_FACTORS.template, SOURCE_FACTORS[source] * freshness);
}

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
