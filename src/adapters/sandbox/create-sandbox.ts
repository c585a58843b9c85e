import { availableParallelism } from 'node:os';
import type {
  GuestFailure,
  GuestHost,
  GuestOutcome,
  GuestProgram,
  Logger,
  Sandbox,
  SandboxOptions,
} from '../../engine/ports.ts';
import { ChildPool } from './child-pool.ts';
import { HostedRun } from './hosted-run.ts';

const DEFAULTS = {
  /** Programs mostly wait for tools, so more may run than there are cores. */
  maxRunning: Math.min(8, Math.max(4, availableParallelism())),
  spares: 1,
  idleMs: 30_000,
  maxRuns: 1_000,
  /** Further children a run is given, when the one it got turns out to be dead. */
  attemptsMore: 2,
  /** Milliseconds until the first child is started, unless a run comes first: a gateway has other things to do. */
  warmUpAfter: 1_000,
};

export interface SandboxParts {
  readonly logger?: Logger;
  readonly maxRunning?: number;
}

/** Programs in isolates, isolates in processes that can touch nothing, processes watched from outside. */
export function createSandbox({ logger, maxRunning = DEFAULTS.maxRunning }: SandboxParts = {}): Sandbox {
  const { spares, idleMs, maxRuns, warmUpAfter } = DEFAULTS;
  const pool = new ChildPool({
    maxRunning,
    spares,
    idleMs,
    maxRuns,
    onFailedStart: ({ how, lastWords }) =>
      logger?.log('error', 'A sandbox process did not start', { how, lastWords }),
  });
  const complain = (message: string, error: unknown) =>
    logger?.log('error', `Sandbox: ${message}`, {
      error: error instanceof Error ? error.stack : String(error),
    });
  const warmUp = setTimeout(() => pool.fill(), warmUpAfter).unref();
  const underWay = new Set<HostedRun>();

  async function attempt(
    program: GuestProgram,
    host: GuestHost,
    options: SandboxOptions,
    attemptsLeft: number,
  ): Promise<GuestOutcome> {
    const { signal, user } = options;
    const taken = await pool.take(signal, user);
    if (!taken.ok) return nothingRan(taken.failure);
    const run = new HostedRun(taken.child, host, options, complain);
    const cancel = () => run.cancel('The run was cancelled');
    underWay.add(run);
    signal?.addEventListener('abort', cancel);
    run.start(program);
    if (signal?.aborted) cancel();
    const { outcome, isClean, isUntouched } = await run.ended;
    signal?.removeEventListener('abort', cancel);
    underWay.delete(run);
    pool.giveBack(taken.child, isClean);
    if (!isUntouched || attemptsLeft === 0) return outcome;
    return attempt(program, host, options, attemptsLeft - 1);
  }

  return {
    run: (program, host, options) => attempt(program, host, options, DEFAULTS.attemptsMore),
    async close() {
      clearTimeout(warmUp);
      pool.close();
      for (const run of underWay) run.cancel('The sandbox was closed');
      await Promise.all([...underWay].map(({ ended }) => ended));
    },
  };
}

function nothingRan(error: GuestFailure): GuestOutcome {
  return { ok: false, error, console: [], truncated: false, cpuMs: 0 };
}
