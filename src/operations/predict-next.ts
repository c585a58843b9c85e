import { z } from 'zod';
import { operation } from './operation.ts';
import { nextSteps } from './suggest.ts';

export const predictNext = operation({
  name: 'predict_next',
  right: 'run',
  scoped: true,
  summary: 'The next step of a job, given the tools executed so far',
  input: z.strictObject({ intent: z.string().min(1), executed: z.array(z.string()).default([]) }),
  output: nextSteps,
  http: { method: 'POST', path: '/next' },
  run: async ({ gateway }, { intent, executed }, caller) => ({
    next: await gateway.predictNext(intent, executed, caller),
  }),
});
