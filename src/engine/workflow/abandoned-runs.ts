import type { RunScope } from '../runs/run-scope.ts';
import type { ActiveRuns } from './active-runs.ts';
import { createSlots } from './active-runs.ts';
import { resumeRun } from './execute-workflow.ts';

const DEFAULTS = {
  /** Abandoned runs taken up at once. */
  atOnce: 8,
};

/** Resumes runs that a gateway left unfinished when it ended. Their callers no longer wait. */
export async function takeUpAbandoned(scope: RunScope, activeRuns: ActiveRuns): Promise<void> {
  const { store, logger } = scope.ports;
  const slots = createSlots(DEFAULTS.atOnce);
  const takeUp = async (runId: string) => {
    const done = await slots.take();
    try {
      const { status } = await resumeRun(scope, activeRuns, runId, { sessionId: null, isAtTerminal: true });
      logger.log('info', 'An abandoned run was resumed', { run_id: runId, status });
    } catch (error) {
      logger.log('error', 'An abandoned run cannot be resumed', { run_id: runId, error: String(error) });
    } finally {
      done();
    }
  };
  await Promise.all((await store.runs.abandoned()).map(takeUp));
}

/** The same every now and then, until told to stop: a lease that ran out may be anybody's. */
export async function watchAbandoned(
  scope: () => RunScope,
  activeRuns: ActiveRuns,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { sleep, logger } = scope().ports;
    // Rejects when told to stop.
    await sleep(activeRuns.newLease().ttlMs, signal).catch(() => {});
    if (signal.aborted) return;
    await takeUpAbandoned(scope(), activeRuns).catch((error: unknown) =>
      logger.log('error', 'Abandoned runs cannot be listed', { error: String(error) }),
    );
  }
}
