import type { Logger } from './ports.ts';

/** Work that no answer waits for. */
export interface Background {
  /** Finished before the gateway ends, unless it heeds the signal and can be taken up again later. */
  run(what: string, work: (signal: AbortSignal) => Promise<unknown>): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
  /** Ends what can be ended, and waits for the rest. */
  stop(): Promise<void>;
}

export function createBackground(logger: Logger, begin: (what: string) => void = () => {}): Background {
  const underWay = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  const settled = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return {
    run(what, work) {
      begin(what);
      const task = work(stopping.signal)
        .catch((error: unknown) => {
          if (stopping.signal.aborted && error === stopping.signal.reason) return;
          logger.log('error', `${what} failed`, {
            error: error instanceof Error ? error.message : String(error),
          });
        })
        .finally(() => underWay.delete(task));
      underWay.add(task);
    },
    settled,
    async stop() {
      stopping.abort();
      await settled();
    },
  };
}
