import { z } from 'zod';
import { operation } from './operation.ts';

export const stopTraining = operation({
  name: 'stop_training',
  right: 'manage',
  summary: 'Stops the current training, no matter who started it; the ranker does not change',
  input: z.strictObject({}),
  output: z.strictObject({}),
  http: { method: 'POST', path: '/learning/stop' },
  async run({ gateway }) {
    await gateway.learning.stop();
    return {};
  },
});
