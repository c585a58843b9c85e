import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import type { TraceJournal } from '../../src/engine/ports.ts';

/** The journal on disk, in memory: it lives as long as its creator. */
export function createMemoryJournal(room = Number.POSITIVE_INFINITY): TraceJournal {
  const traces: ExecutionTrace[] = [];
  return {
    get size() {
      return traces.length;
    },
    get hasRoom() {
      return traces.length < room;
    },
    add: (trace) => void traces.push(structuredClone(trace)),
    oldest: (limit) => traces.slice(0, limit).map((trace) => structuredClone(trace)),
    confirm: (count) => void traces.splice(0, count),
    close: () => {},
  };
}
