import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { operation } from './operation.ts';
import { valueFrom } from './operation-context.ts';
import { loginKey } from './start-server-login.ts';

export const finishServerLogin = operation({
  name: 'finish_server_login',
  right: 'bridge',
  summary: 'Completes an OAuth login to a server with the address of the redirect',
  input: z.strictObject({
    name: z.string().min(1),
    callback_url: z.string(),
    user: z.string().optional(),
  }),
  output: z.strictObject({}),
  async run({ serverLogins }, { name, callback_url: callbackUrl, user }) {
    const finish = serverLogins.get(loginKey(name, user));
    if (!finish) {
      throw new PmlError('not_found', `No login to server "${name}" is in progress`, {
        hint: `Start one with "pml servers login ${name}".`,
      });
    }
    serverLogins.delete(loginKey(name, user));
    valueFrom(await finish(callbackUrl));
    return {};
  },
});
