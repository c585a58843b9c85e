import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import { deciderOf } from './operation-context.ts';
import { seenRun } from './seen-runs.ts';
import { wholeRunToWire } from './shapes/run.ts';

interface Decision {
  readonly run_id: string;
  readonly approval_ids?: string[] | undefined;
  readonly accept_definition?: boolean;
}

/** The first decision stands. */
export async function settleRun(
  gateway: Gateway,
  verdict: 'approved' | 'rejected',
  { run_id, approval_ids: ids, accept_definition: accepts = false }: Decision,
  caller: Caller,
) {
  const { runId } = await seenRun(caller, gateway, run_id);
  if (!(await gateway.settleApproval(runId, verdict, deciderOf(caller), ids, accepts))) {
    throw new PmlError('store_conflict', `Nothing of run ${runId} waits for a decision any more`, {
      hint: 'See who decided with GET /api/runs/:id.',
    });
  }
  return wholeRunToWire(await seenRun(caller, gateway, runId));
}
