import { z } from 'zod';
import { settleRun } from './approve-run.ts';
import { operation } from './operation.ts';
import { wholeRun } from './shapes/run.ts';

export const rejectRun = operation({
  name: 'reject_run',
  right: 'decide',
  summary: 'Rejects the calls a run is waiting for',
  input: z.strictObject({
    run_id: z.string(),
    /** By default all pending approvals. */
    approval_ids: z.array(z.string()).optional(),
  }),
  output: wholeRun,
  http: { method: 'POST', path: '/runs/:run_id/reject' },
  run: ({ gateway }, input, caller) => settleRun(gateway, 'rejected', input, caller),
});
