import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { createJournaledQueue } from './journaled-queue.ts';
import { createTraceQueue, type TraceListener, type TraceQueue } from './trace-queue.ts';

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
  const listeners = { storing, stored };
  const queue = ports.journal
    ? createJournaledQueue(ports, ports.journal, background, listeners)
    : createTraceQueue(ports, background, listeners);
  return {
    ...queue,
    onStoring: (listener) => void storing.push(listener),
    onStored: (listener) => void stored.push(listener),
  };
}
