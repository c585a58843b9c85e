import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';

/** Hands finished runs on to where the user watches all of their services. */
export interface TraceExporter {
  /** Takes the trace and answers at once; what becomes of it never fails a run. */
  export(trace: ExecutionTrace): void;
  /** Sends what is still held back. */
  close(): Promise<void>;
}
