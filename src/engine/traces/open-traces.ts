import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { createJournaledQueue } from './journaled-queue.ts';
import { createTraceQueue, type TraceQueue } from './trace-queue.ts';

type TraceListener = (trace: ExecutionTrace) => void;

/** Stores the traces of this gateway and tells the services that learn from them. */
export interface Traces extends TraceQueue {
  /** Told of each trace before other gateways can see it. */
  onStoring(listener: TraceListener): void;
  /** Told of each trace once it is committed: nothing may be derived before. */
  onStored(listener: TraceListener): void;
}

/** Subscribe in the same turn: a journal that an earlier process left is stored from the next one on. */
export function openTraces(
  ports: Pick<FlowPorts, 'store' | 'journal' | 'sleep' | 'logger'>,
  background: Background,
): Traces {
  const storing: TraceListener[] = [];
  const stored: TraceListener[] = [];
  const tellAll = (listeners: readonly TraceListener[]) => (trace: ExecutionTrace) => {
    for (const tell of listeners) tell(trace);
  };
  const hooks = { onStoring: tellAll(storing), onStored: tellAll(stored) };
  const queue = ports.journal
    ? createJournaledQueue(ports, ports.journal, background, hooks)
    : createTraceQueue(ports, background, hooks);
  return {
    ...queue,
    onStoring: (listener) => void storing.push(listener),
    onStored: (listener) => void stored.push(listener),
  };
}
