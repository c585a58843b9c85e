import { z } from 'zod';
import { operation } from './operation.ts';
import { workflowAnswer, workflowToWire } from './shapes/run.ts';

export const resumeRun = operation({
  name: 'resume_run',
  right: 'run',
  scoped: true,
  summary: 'Resumes a run after a decision',
  input: z.strictObject({ run_id: z.string() }),
  output: workflowAnswer,
  http: { method: 'POST', path: '/runs/:run_id/resume' },
  async run({ gateway }, { run_id: runId }, caller) {
    return workflowToWire(await gateway.continueRun(runId, 'resume', caller));
  },
});
