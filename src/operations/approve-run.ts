import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import { STANDING_SCOPES, type StandingScope } from '../engine/people/standing-approvals.ts';
import { seenRun } from './get-run.ts';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';
import { wholeRun, wholeRunToWire } from './shapes/run.ts';

export const approveRun = operation({
  name: 'approve_run',
  right: 'decide',
  summary: 'Approves the calls a run is waiting for',
  input: z.strictObject({
    run_id: z.string(),
    /** By default all pending approvals. */
    approval_ids: z.array(z.string()).optional(),
    /** Also accepts changed tool definitions for later calls. */
    accept_definition: z.boolean().default(false),
    /** Also approves later calls: of the tool, with the same arguments, or of the tool in the same session. */
    always: z.enum(STANDING_SCOPES).optional(),
  }),
  output: wholeRun,
  http: { method: 'POST', path: '/runs/:run_id/approve' },
  run: ({ gateway }, input, caller) => settleRun(gateway, 'approved', input, caller),
});

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
    throw new PmlError('store_conflict', `Run ${runId} is no longer waiting for a decision`, {
      hint: 'See who decided with GET /api/runs/:id.',
    });
  }
  return wholeRunToWire(await seenRun(caller, gateway, runId));
}
