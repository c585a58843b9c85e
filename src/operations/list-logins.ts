import { z } from 'zod';
import { operation } from './operation.ts';

export const listLogins = operation({
  name: 'list_logins',
  right: 'manage',
  summary: 'The browsers that are logged in',
  input: z.strictObject({}),
  output: z.object({
    logins: z.array(
      z.object({
        id: z.string(),
        /** Id of the key used to log in; null for the data folder's owner. */
        key_id: z.string().nullable(),
        /** The browser's user agent. */
        about: z.string(),
        made_at: z.string(),
        expires_at: z.string(),
        is_this_one: z.boolean(),
      }),
    ),
  }),
  http: { method: 'GET', path: '/logins' },
  async run({ logins }, _, { who }) {
    const found = (await logins?.list()) ?? [];
    return {
      logins: found.map((login) => ({ ...loginToWire(login), is_this_one: login.id === who?.loginId })),
    };
  },
});

interface Login {
  readonly id: string;
  readonly keyId: string | null;
  readonly about: string;
  readonly madeAt: number;
  readonly expiresAt: number;
}

function loginToWire({ id, keyId, about, madeAt, expiresAt }: Login) {
  return {
    id,
    key_id: keyId,
    about,
    made_at: new Date(madeAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}
