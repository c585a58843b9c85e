import { z } from 'zod';
import { operation } from './operation.ts';
import { workflowAnswer, workflowToWire } from './shapes/run.ts';

export const abortRun = operation({
  name: 'abort_run',
  right: 'run',
  scoped: true,
  summary: 'Aborts an unfinished run; completed calls are not undone',
  input: z.strictObject({ run_id: z.string() }),
  output: workflowAnswer,
  http: { method: 'POST', path: '/runs/:run_id/abort' },
  async run({ gateway }, { run_id: runId }, caller) {
    return workflowToWire(await gateway.continueRun(runId, 'abort', caller));
  },
});
