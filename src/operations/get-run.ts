import { z } from 'zod';
import { operation } from './operation.ts';
import { seenRun } from './seen-runs.ts';
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
