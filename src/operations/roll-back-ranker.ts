import { z } from 'zod';
import { operation } from './operation.ts';
import { learning, learningToWire } from './shapes/learning.ts';

export const rollBackRanker = operation({
  name: 'roll_back_ranker',
  right: 'manage',
  summary: 'Rolls back to the ranker before the last training',
  input: z.strictObject({}),
  output: learning,
  http: { method: 'POST', path: '/learning/rollback' },
  run: async ({ gateway }) => learningToWire(await gateway.learning.rollBack()),
});
