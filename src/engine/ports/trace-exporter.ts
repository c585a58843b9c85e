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
