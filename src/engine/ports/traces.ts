import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';

/** A request over HTTP; nothing of what it said. */
export interface ServedRequest {
  readonly method: string;
  /** As it was registered: `/api/traces/:id`. */
  readonly route: string;
  readonly status: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Hands finished runs on to where the user watches all of their services. */
export interface TraceExporter {
  /** Takes the trace and answers at once; what becomes of it never fails a run. */
  export(trace: ExecutionTrace): void;
  /** The same of a request that was answered over HTTP. */
  exportRequest(request: ServedRequest): void;
  /** Sends what is still held back. */
  close(): Promise<void>;
}

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
