import type { ValueShape } from '../tracing/value-flow.ts';
import type { Edge, EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';

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
