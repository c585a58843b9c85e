import { z } from 'zod';
import { operation } from './operation.ts';
import { notFound } from './operation-context.ts';

export const revokeLogin = operation({
  name: 'revoke_login',
  right: 'manage',
  summary: 'Ends the login of one browser',
  input: z.strictObject({ login_id: z.string() }),
  output: z.object({ id: z.string() }),
  http: { method: 'POST', path: '/logins/:login_id/revoke' },
  async run({ logins }, { login_id: id }) {
    if (await logins?.revoke(id)) return { id };
    throw notFound('Login', id, 'See GET /api/logins.');
  },
});
