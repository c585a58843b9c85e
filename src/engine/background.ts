import type { Logger } from './ports.ts';

/** Work that no answer waits for, but that is finished before the gateway ends. */
export interface Background {
  run(what: string, work: () => Promise<unknown>): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export function createBackground(logger: Logger): Background {
  const underWay = new Set<Promise<unknown>>();
  return {
    run(what, work) {
      const task = work()
        .catch((error: unknown) => {
          logger.log('error', `${what} failed`, {
            error: error instanceof Error ? error.message : String(error),
          });
        })
        .finally(() => underWay.delete(task));
      underWay.add(task);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
