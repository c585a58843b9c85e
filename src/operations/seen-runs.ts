import type { Caller, Gateway } from '../engine/gateway.ts';
import { may, maySee } from '../engine/people/roles.ts';
import { findRun, type PendingRun } from '../engine/runs/pending-runs.ts';
import { askerOf, notFound } from './operation-context.ts';

/** Callers who decide see the exact calls; all others see what is stored of them. */
export async function seenBy(
  caller: Caller,
  gateway: Gateway,
  runs: readonly PendingRun[],
): Promise<readonly PendingRun[]> {
  const seen = runs.filter((run) => mayLookAt(gateway, caller, run));
  return may(askerOf(caller), 'decide') ? await gateway.showExact(seen) : seen;
}

/** One run; what the caller may not see does not exist. */
export async function seenRun(caller: Caller, gateway: Gateway, runId: string): Promise<PendingRun> {
  const found = await findRun(gateway.store, runId);
  const [run] = found ? await seenBy(caller, gateway, [found]) : [];
  if (run) return run;
  throw notFound('Run', runId, 'See GET /api/runs.');
}

/** A call that still waits is not written down yet; what all share is shown all the same. */
function mayLookAt(gateway: Gateway, caller: Caller, { run }: PendingRun): boolean {
  const who = askerOf(caller);
  if (run) return maySee(who, run);
  return may(who, 'see_all') || gateway.settings().sharing.traces === 'shared';
}
