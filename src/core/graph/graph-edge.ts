import type { Edge, EdgeSource, EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { ValuePath } from './value-paths.ts';

const DEFAULTS = {
  /** Runs after which an edge counts as observed. */
  observedRuns: 3,
  /** Days without a sighting before an edge begins to fade. */
  graceDays: 30,
  /** After that, the weight of its source halves in this many days. */
  halfLifeDays: 90,
};

/** An edge as the graph stores it. Its source follows from `observedCount`, so learning only changes counts. */
export interface GraphEdge extends Edge {
  /** Time of the newest run that showed the edge, in milliseconds since 1970; null until then. */
  readonly lastSeenAt: number | null;
  /** For `provides`: where the values were found. */
  readonly valuePaths: readonly ValuePath[];
}

/** What is known about a node besides its edges. */
export interface NodeStatistics {
  readonly node: NodeId;
  /** Runs in which the node was called. */
  readonly runs: number;
  readonly calls: number;
  /** Calls that failed or did not end. */
  readonly failures: number;
  /** Calls that directly followed another call of the same node: these would be self-loops. */
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

/** What a write changed, in order: what a store must write. */
export interface GraphChanges {
  readonly edges: readonly GraphEdge[];
  readonly statistics: readonly NodeStatistics[];
}

/** Edge types that imply an order. */
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

/** Weight of a fresh edge of this type and source, in (0, 1]. */
export function weight(type: EdgeType, source: EdgeSource): number {
  return TYPE_WEIGHTS[type] * SOURCE_FACTORS[source];
}

/**
 * The weight with age: edges that are no longer seen fade, at most to the weight of a template.
 * Age is relative to the newest run of the graph, not to the present: during an idle month nothing fades,
 * and the same traces always give the same weights.
 */
export function fadedWeight({ type, source, lastSeenAt }: GraphEdge, newestRunAt: number | null): number {
  if (lastSeenAt === null || newestRunAt === null) return weight(type, source);
  const days = (newestRunAt - lastSeenAt) / DAY_MS - DEFAULTS.graceDays;
  const freshness = days > 0 ? 2 ** (-days / DEFAULTS.halfLifeDays) : 1;
  return TYPE_WEIGHTS[type] * Math.max(SOURCE_FACTORS.template, SOURCE_FACTORS[source] * freshness);
}
