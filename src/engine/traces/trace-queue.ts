import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';

const DEFAULTS = {
  /** How long a trace may wait for others to be stored with it, in milliseconds. */
  gatherMs: 5,
  /** Traces stored at once, at most. */
  batch: 100,
};

/** Stores traces beside the answers, several at once when there are many: one write costs about as much as ten. */
export interface TraceQueue {
  /** Before a run begins: refuses when its trace could not be kept. */
  admit(): void;
  /** With others; resolves when it can be read, or as `store` does. */
  add(trace: ExecutionTrace): Promise<void>;
  /** At once; resolves when it is committed, or as safe as it can be while the store is away. */
  store(trace: ExecutionTrace): Promise<void>;
}

export type TraceListener = (trace: ExecutionTrace) => void;

export interface TraceListeners {
  /** Told of each trace before anybody else can see it. */
  readonly storing: readonly TraceListener[];
  /** Told of each trace once it is committed: nothing may be derived before. */
  readonly stored: readonly TraceListener[];
}

interface Waiting {
  readonly trace: ExecutionTrace;
  readonly settle: () => void;
}

const NOBODY: TraceListeners = { storing: [], stored: [] };

export function createTraceQueue(
  { store, sleep, logger }: Pick<FlowPorts, 'store' | 'sleep' | 'logger'>,
  background: Background,
  { storing, stored }: TraceListeners = NOBODY,
): TraceQueue {
  const waiting: Waiting[] = [];
  let isStoring = false;

  const storeAll = async () => {
    try {
      await sleep(DEFAULTS.gatherMs);
      while (waiting.length > 0) await storeBatch(waiting.splice(0, DEFAULTS.batch));
    } finally {
      // In the same turn as the last look at what waits: nothing can slip in between.
      isStoring = false;
    }
  };
  const storeOne = async (trace: ExecutionTrace) => {
    await store.traces.append(trace);
    for (const tell of stored) tell(trace);
  };
  const storeBatch = async (batch: readonly Waiting[]) => {
    try {
      await store.traces.appendAll(batch.map(({ trace }) => trace));
      for (const { trace } of batch) for (const tell of stored) tell(trace);
      for (const { settle } of batch) settle();
    } catch (error) {
      logger.log('debug', 'Traces cannot be stored together', { error: String(error) });
      // One that cannot be stored must not take the others along.
      for (const { trace, settle } of batch)
        background.run('Storing a trace', () => storeOne(trace).finally(settle));
    }
  };

  return {
    admit() {},
    add(trace) {
      for (const tell of storing) tell(trace);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ trace, settle: resolve });
      if (!isStoring) {
        isStoring = true;
        background.run('Storing traces', storeAll);
      }
      return promise;
    },
    store(trace) {
      for (const tell of storing) tell(trace);
      return storeOne(trace);
    },
  };
}
