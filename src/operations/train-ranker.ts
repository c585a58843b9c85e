import { z } from 'zod';
import { operation } from './operation.ts';
import { learning, learningToWire } from './shapes/learning.ts';

export const trainRanker = operation({
  name: 'train_ranker',
  right: 'manage',
  summary: 'Trains on all runs now; answers when it is done, and stops when the caller goes away',
  input: z.strictObject({}),
  output: learning,
  http: { method: 'POST', path: '/learning/train' },
  run: async ({ gateway }, _, { signal }) => learningToWire(await gateway.learning.train(signal)),
});
