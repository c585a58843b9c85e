import type { GraphChanges, GraphEdge } from '../../core/graph/graph-edge.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';

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
  /** Counts up when the graph is replaced: results of another generation are obsolete. */
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

/** What the graph learned from traces that were removed since. */
export interface Rollup extends GraphChanges {
  /** How many they were. It only grows, so it also tells whether there are more since. */
  readonly traces: number;
}

export interface RollupStep extends GraphChanges {
  /** Of the roll-up it was worked out on. */
  readonly from: number;
  /** Ids of the traces that are in it now, and go. */
  readonly ids: readonly string[];
}

/** Raw traces go after their time; what the graph has of them must not, or a rebuild would unlearn it. */
export interface RollupStore {
  read(): Promise<Rollup>;
  /** How many traces are in it. */
  traces(): Promise<number>;
  /**
   * Traces of before this moment that the stored graph has, of runs that are over; oldest first, `limit` at the most.
   */
  due(before: Date, limit: number): Promise<ExecutionTrace[]>;
  /**
   * Takes these edges and statistics in and removes the traces with all else that is kept of their runs but suggestions,
   * which have a time of their own; all or none, and only if the roll-up is still as it was; else false.
   */
  fold(step: RollupStep): Promise<boolean>;
  /** Gives back the room of whole months before this moment that hold nothing any more. */
  tidy(before: Date): Promise<void>;
}
