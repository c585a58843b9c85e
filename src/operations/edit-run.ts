import { z } from 'zod';
import { seenRun } from './get-run.ts';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';
import { wholeRun, wholeRunToWire } from './shapes/run.ts';

export const editRun = operation({
  name: 'edit_run',
  right: 'decide',
  summary: 'Changes the arguments of a waiting call, which then needs a new approval',
  input: z.strictObject({
    run_id: z.string(),
    /** By default the only waiting task. */
    task: z.string().optional(),
    arguments: jsonObject,
  }),
  output: wholeRun,
  http: { method: 'POST', path: '/runs/:run_id/edit' },
  async run({ gateway }, { run_id, task, arguments: args }, caller) {
    const { runId } = await seenRun(caller, gateway, run_id);
    const edit = { arguments: args, by: deciderOf(caller), ...(task !== undefined && { task }) };
    await gateway.editCall(runId, edit);
    return wholeRunToWire(await seenRun(caller, gateway, runId));
  },
});
