import { availableParallelism } from 'node:os';
import type { GuestFailure, GuestOutcome, Logger, Sandbox } from '../../engine/ports.ts';
import { ChildPool } from './child-pool.ts';
import { hostRun } from './hosted-run.ts';

const DEFAULTS = {
  /** Programs mostly wait for tools, so more may run than there are cores. */
  maxRunning: Math.min(8, Math.max(4, availableParallelism())),
  spares: 1,
  idleMs: 30_000,
  /** Milliseconds until the first child is started, unless a run comes first: a gateway has other things to do. */
  warmUpAfter: 1_000,
};

export interface SandboxParts {
  readonly logger?: Logger;
  readonly maxRunning?: number;
}

/** Programs in isolates, isolates in processes that can touch nothing, processes watched from outside. */
export function createSandbox({ logger, maxRunning = DEFAULTS.maxRunning }: SandboxParts = {}): Sandbox {
  const { spares, idleMs, warmUpAfter } = DEFAULTS;
  const pool = new ChildPool({
    maxRunning,
    spares,
    idleMs,
    onFailedStart: ({ how, lastWords }) =>
      logger?.log('error', 'A sandbox process did not start', { how, lastWords }),
  });
  const complain = (message: string, error: unknown) =>
    logger?.log('error', `Sandbox: ${message}`, {
      error: error instanceof Error ? error.stack : String(error),
    });
  const warmUp = setTimeout(() => pool.fill(), warmUpAfter).unref();
  const underWay = new Set<Promise<unknown>>();

  return {
    async run(program, host, options) {
      const taken = await pool.take(options.signal);
      if (!taken.ok) {
        const isCancelled = options.signal?.aborted === true;
        return nothingRan({ kind: isCancelled ? 'cancelled' : 'crashed', message: taken.why });
      }
      const { child } = taken;
      const run = hostRun(child, program, host, options, complain);
      underWay.add(run);
      const { outcome, isClean } = await run;
      underWay.delete(run);
      pool.giveBack(child, isClean);
      return outcome;
    },
    async close() {
      clearTimeout(warmUp);
      pool.close();
      await Promise.all(underWay);
    },
  };
}

function nothingRan(error: GuestFailure): GuestOutcome {
  return { ok: false, error, console: [], truncated: false, cpuMs: 0 };
}
