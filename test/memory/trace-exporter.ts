import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import type { ServedRequest, TraceExporter } from '../../src/engine/ports.ts';

/** Keeps every trace until it is closed; later ones are dropped, as by the real exporter. */
export function createMemoryTraceExporter(): TraceExporter & {
  readonly traces: readonly ExecutionTrace[];
  readonly requests: readonly ServedRequest[];
} {
  const traces: ExecutionTrace[] = [];
  const requests: ServedRequest[] = [];
  let isClosed = false;
  return {
    traces,
    requests,
    exportRequest(request) {
      if (!isClosed) requests.push(request);
    },
    export(trace) {
      if (!isClosed) traces.push(trace);
    },
    async close() {
      isClosed = true;
    },
  };
}
