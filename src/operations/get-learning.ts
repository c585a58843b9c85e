import { z } from 'zod';
import { operation } from './operation.ts';
import { learning, learningToWire } from './shapes/learning.ts';

export const getLearning = operation({
  name: 'get_learning',
  right: 'read',
  summary: 'State of learning, and whether the ranker is in use',
  input: z.strictObject({}),
  output: learning,
  http: { method: 'GET', path: '/learning' },
  run: async ({ gateway }) => learningToWire(await gateway.learning.report()),
});
