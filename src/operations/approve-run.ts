import { z } from 'zod';
import { operation } from './operation.ts';
import { settleRun } from './settle-run.ts';
import { wholeRun } from './shapes/run.ts';

export const approveRun = operation({
  name: 'approve_run',
  right: 'decide',
  summary: 'Approves what a run waits for',
  input: z.strictObject({
    run_id: z.string(),
    /** Absent: all that wait. */
    approval_ids: z.array(z.string()).optional(),
    /** Changed definitions of these tools are accepted for good, not for these calls alone. */
    accept_definition: z.boolean().default(false),
  }),
  output: wholeRun,
  http: { method: 'POST', path: '/runs/:run_id/approve' },
  run: ({ gateway }, input, caller) => settleRun(gateway, 'approved', input, caller),
});
