import type { GraphChanges, GraphEdge } from '../../core/graph/graph-edge.ts';

/** What was learned from traces, and from which. */
export interface StoredGraph extends GraphChanges {
  /** Of `traces.scan`: every trace up to here is in the graph, none after it. 0 at first. */
  readonly cursor: number;
}

/** What traces added. */
export interface GraphStep extends StoredGraph {
  /** The cursor of the graph it was worked out on. */
  readonly from: number;
  /** And its generation; absent: whichever. */
  readonly generation?: number;
}

/** Where the stored graph stands. */
export interface GraphPosition {
  /** Counts up when the graph is replaced: what was worked out on another generation is no base any more. */
  readonly generation: number;
  readonly cursor: number;
}

/** What identifies an edge. */
export type EdgeKey = Pick<GraphEdge, 'from' | 'to' | 'type'>;

/** The graph as it stands in storage; all of it can be learned again from the traces. */
export interface GraphStore {
  /** All of one moment: edges in order of (from, to, type), statistics in order of node. */
  read(): Promise<StoredGraph>;
  position(): Promise<GraphPosition>;
  /**
   * Adds or replaces these edges, by (from, to, type), and statistics, by node, and moves the cursor: all
   * of it, and only if the cursor is still `from`, and the graph was not replaced. Else false: somebody else
   * went on.
   * No trace is counted twice, not even by two processes.
   */
  apply(step: GraphStep): Promise<boolean>;
  /** Those not there are gone already. */
  remove(edges: readonly EdgeKey[]): Promise<void>;
  /** A reader sees the old graph or the new one. */
  replaceAll(graph: StoredGraph): Promise<void>;
}
