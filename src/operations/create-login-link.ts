import { z } from 'zod';
import { operation } from './operation.ts';
import { holderOf } from './operation-context.ts';

export const createLoginLink = operation({
  name: 'create_login_link',
  right: 'bridge',
  summary: 'A one-time link that logs a browser in',
  input: z.strictObject({
    /** Whose user it is, by name or id; absent: the owner. */
    key: z.string().optional(),
  }),
  output: z.object({ login_url: z.string() }),
  run: async (context, { key }) => ({ login_url: await holderOf(context).createLoginLink(key) }),
});
