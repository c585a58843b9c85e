import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';

/** Traces that are on disk and not in the store yet, oldest first. What is in it survives `kill -9`. */
export interface TraceJournal {
  /** Traces in it. */
  readonly size: number;
  /** False: it holds as much as it may. It takes what is added all the same: a run under way must not lose its trace. */
  readonly hasRoom: boolean;
  /** Is on disk when it returns. */
  add(trace: ExecutionTrace): void;
  /** The oldest, at most so many of them; some, if there are any. */
  oldest(limit: number): ExecutionTrace[];
  /** The oldest so many are in the store by now. */
  confirm(count: number): void;
  close(): void;
}
