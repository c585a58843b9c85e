import { z } from 'zod';
import { STANDING_SCOPES } from '../engine/people/standing-approvals.ts';
import { operation } from './operation.ts';
import { settleRun } from './seen-runs.ts';
import { wholeRun } from './shapes/run.ts';

export const approveRun = operation({
  name: 'approve_run',
  right: 'decide',
  summary: 'Approves the calls a run waits for',
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
