import { z } from 'zod';
import { operation } from './operation.ts';
import { holderOf } from './operation-context.ts';

export const handOver = operation({
  name: 'hand_over',
  right: 'bridge',
  summary: 'Asks the process to release the data folder to another process that wants to serve from it',
  input: z.strictObject({}),
  output: z.strictObject({}),
  async run(context) {
    holderOf(context).handOver();
    return {};
  },
});
