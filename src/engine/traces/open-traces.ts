import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { TraceJournal } from '../ports.ts';
import { createTraceQueue, type TraceListener, type TraceListeners, type TraceQueue } from './trace-queue.ts';
/** Stores the traces of this gateway and tells the services that learn from them. */
export interface Traces extends TraceQueue {
  /** Told of each trace before other gateways can see it. */
  onStoring(listener: TraceListener): void;
  /** Told of each trace once it is committed: nothing may be derived before. */
  onStored(listener: TraceListener): void;
}

/** Subscribe in the same turn: the journal of an earlier process is stored from the next turn on. */
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

const DEFAULTS = {
  /** How long a trace may wait for others to be stored with it, in milliseconds. */
  gatherMs: 5,
  /** Traces stored at once, at most. */
  batch: 100,
  /** Pauses between two tries on a store that is away, in milliseconds; the last one repeats. */
  retryMs: [100, 200, 500, 1_000],
};

/**
 * For a store that may go away: a trace is on disk before its run is answered, and in the store soon after. While the
 * store is away they wait, and go in in their order when it is back; those of a process that was killed, with the next.
 */
export function createJournaledQueue(
  { store, sleep, logger }: Pick<FlowPorts, 'store' | 'sleep' | 'logger'>,
  journal: TraceJournal,
  background: Background,
  listeners: TraceListeners,
): TraceQueue {
  let isStoring = false;
  /** Since the start; the difference is what waits. */
  let [added, settled] = [journal.size, 0];
  let waiting: { readonly nth: number; readonly resolve: () => void }[] = [];

  const answer = (isSettled: (nth: number) => boolean) => {
    const done = waiting.filter(({ nth }) => isSettled(nth));
    waiting = waiting.filter(({ nth }) => !isSettled(nth));
    for (const { resolve } of done) resolve();
  };

  const storeAll = async (signal: AbortSignal) => {
    try {
      await sleep(DEFAULTS.gatherMs);
      for (let failures = 0; journal.size > 0; ) {
        try {
          const batch = journal.oldest(DEFAULTS.batch);
          const stored = await storeBatch(batch);
          journal.confirm(batch.length);
          settled += batch.length;
          failures = 0;
          for (const trace of stored) for (const tell of listeners.stored) tell(trace);
          answer((nth) => nth <= settled);
        } catch (error) {
          if (failures === 0) tellAway(error);
          // On disk is enough for the callers that wait.
          answer(() => true);
          if (signal.aborted) return;
          const pause = DEFAULTS.retryMs[Math.min(failures++, DEFAULTS.retryMs.length - 1)]!;
          await sleep(pause, signal).catch(() => {});
        }
      }
    } finally {
      isStoring = false;
    }
  };
  const tellAway = (error: unknown) =>
    logger.log('warn', 'Traces are waiting on disk: the store does not accept them', {
      waiting: journal.size,
      error: String(error),
    });

  /** Answers those that were not in the store before. */
  const storeBatch = async (batch: readonly ExecutionTrace[]): Promise<readonly ExecutionTrace[]> => {
    try {
      await store.traces.appendAll(batch);
      return batch;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    const stored: ExecutionTrace[] = [];
    for (const trace of batch) if (await isStored(trace)) stored.push(trace);
    return stored;
  };
  const isStored = async (trace: ExecutionTrace): Promise<boolean> => {
    try {
      await store.traces.append(trace);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Stored by a process that was killed before it could note so; else it cannot be stored at all.
      const isThere = error.code === 'store_conflict';
      if (!isThere)
        logger.log('error', 'A trace cannot be stored', { trace_id: trace.id, error: error.message });
      return false;
    }
  };

  const write = (trace: ExecutionTrace): number => {
    for (const tell of listeners.storing) tell(trace);
    journal.add(trace);
    added += 1;
    start();
    return added;
  };
  const settle = async (trace: ExecutionTrace): Promise<void> => {
    const nth = write(trace);
    await new Promise<void>((resolve) => waiting.push({ nth, resolve }));
  };
  const start = () => {
    if (isStoring) return;
    isStoring = true;
    background.run('Storing traces', storeAll);
  };

  if (journal.size > 0) start();
  return {
    admit() {
      if (journal.hasRoom) return;
      throw new PmlError(
        'store_unavailable',
        `The store is not available, and ${journal.size} traces are waiting on disk`,
        {
          hint: 'Nothing runs until the store is back, unless you raise store.queue_mb in the configuration.',
        },
      );
    },
    add: settle,
    store: settle,
  };
}

/** The store is available but refuses it. */
function isRefusal(error: unknown): error is PmlError {
  return error instanceof PmlError && (error.code === 'store_conflict' || error.code === 'store_refused');
}
