import { z } from 'zod';
import { operation } from './operation.ts';
import { learning, learningToWire } from './shapes/learning.ts';

export const trainRanker = operation({
  name: 'train_ranker',
  right: 'manage',
  summary: 'Trains on all runs now; responds when done, and stops if the caller disconnects',
  input: z.strictObject({}),
  output: learning,
  http: { method: 'POST', path: '/learning/train' },
  run: async ({ gateway }, _, { signal }) => learningToWire(await gateway.learning.train(signal)),
});
