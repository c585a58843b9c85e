import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import { isOfItsKey, isRestricted, may, maySee } from '../engine/people/roles.ts';
import type { StandingScope } from '../engine/people/standing-approvals.ts';
import { findRun, type PendingRun } from '../engine/runs/pending-runs.ts';
import { askerOf, deciderOf, notFound } from './operation-context.ts';
import { wholeRunToWire } from './shapes/run.ts';

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

interface Decision {
  readonly run_id: string;
  readonly approval_ids?: string[] | undefined;
  readonly accept_definition?: boolean;
  readonly always?: StandingScope | undefined;
}

/** The first decision counts. */
export async function settleRun(
  gateway: Gateway,
  verdict: 'approved' | 'rejected',
  { run_id, approval_ids: ids, accept_definition: acceptDefinition = false, always }: Decision,
  caller: Caller,
) {
  const { runId } = await seenRun(caller, gateway, run_id);
  const beyond = { acceptDefinition, ...(always !== undefined && { always }) };
  if (!(await gateway.settleApproval(runId, verdict, deciderOf(caller), ids, beyond))) {
    throw new PmlError('store_conflict', `Run ${runId} no longer waits for a decision`, {
      hint: 'See who decided with GET /api/runs/:id.',
    });
  }
  return wholeRunToWire(await seenRun(caller, gateway, runId));
}
