import { z } from 'zod';
import { operation } from './operation.ts';
import { holderOf } from './operation-context.ts';

export const backUpStore = operation({
  name: 'back_up_store',
  right: 'bridge',
  summary: 'Writes the whole store to one file on the machine of the running gateway',
  input: z.strictObject({
    /** An absolute path. */
    file: z.string().min(1),
  }),
  output: z.object({
    file: z.string(),
    made_at: z.string(),
    sha256: z.string(),
    tables: z.array(z.object({ table: z.string(), rows: z.number(), sha256: z.string() })),
  }),
  async run(context, { file }) {
    const { madeAt, ...made } = await holderOf(context).backUp(file);
    return { ...made, made_at: madeAt };
  },
});
