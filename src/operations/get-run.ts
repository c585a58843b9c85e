import { z } from 'zod';
import type { Caller, Gateway } from '../engine/gateway.ts';
import { isOfItsKey, isRestricted, may, maySee } from '../engine/people/roles.ts';
import { findRun, type PendingRun } from '../engine/runs/pending-runs.ts';
import { operation } from './operation.ts';
import { askerOf, notFound } from './operation-context.ts';
import { wholeRun, wholeRunToWire } from './shapes/run.ts';

export const getRun = operation({
  name: 'get_run',
  right: 'read',
  scoped: true,
  summary: 'One run with its plan and approvals',
  input: z.strictObject({ run_id: z.string() }),
  output: wholeRun,
  http: { method: 'GET', path: '/runs/:run_id' },
  async run({ gateway }, { run_id: runId }, caller) {
    return wholeRunToWire(await seenRun(caller, gateway, runId));
  },
});

/** Callers who may decide see the exact calls; others see the stored form. */
export async function seenBy(
  caller: Caller,
  gateway: Gateway,
  runs: readonly PendingRun[],
): Promise<readonly PendingRun[]> {
  const seen = runs.filter((run) => mayLookAt(gateway, caller, run));
  return may(askerOf(caller), 'decide') ? await gateway.showExact(seen) : seen;
}

/** One run; not found if the caller may not see it. */
export async function seenRun(caller: Caller, gateway: Gateway, runId: string): Promise<PendingRun> {
  const found = await findRun(gateway.store, runId);
  const [run] = found ? await seenBy(caller, gateway, [found]) : [];
  if (run) return run;
  throw notFound('Run', runId, 'See GET /api/runs.');
}

/** A waiting call has no stored trace yet; with shared traces everybody may see it. */
function mayLookAt(gateway: Gateway, caller: Caller, { run }: PendingRun): boolean {
  const who = askerOf(caller);
  if (run) return maySee(who, run) && isOfItsKey(caller, run);
  if (isRestricted(who)) return false;
  return may(who, 'see_all') || gateway.settings().sharing.traces === 'shared';
}
