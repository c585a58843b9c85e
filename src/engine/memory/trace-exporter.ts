import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { TraceExporter } from '../ports.ts';

/** Keeps every trace until it is closed; what comes later is dropped, as by the real one. */
export function createMemoryTraceExporter(): TraceExporter & { readonly traces: readonly ExecutionTrace[] } {
  const traces: ExecutionTrace[] = [];
  let isClosed = false;
  return {
    traces,
    export(trace) {
      if (!isClosed) traces.push(trace);
    },
    async close() {
      isClosed = true;
    },
  };
}
