import { z } from 'zod';
import { operation } from './operation.ts';

export const logOut = operation({
  name: 'log_out',
  // Only the caller's own login.
  right: 'read',
  scoped: true,
  summary: 'Ends the login of the caller',
  input: z.strictObject({}),
  output: z.object({ id: z.string().nullable() }),
  http: { method: 'POST', path: '/logout' },
  async run({ logins }, _, { who }) {
    const id = who?.loginId;
    return { id: id !== undefined && (await logins?.revoke(id)) ? id : null };
  },
});
