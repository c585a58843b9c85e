import type { GraphChanges } from '../../core/graph/graph-edge.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';

/** What the graph learned from traces that are no longer kept. */
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
