import { z } from 'zod';
import { operation } from './operation.ts';
import { valueFrom } from './operation-context.ts';

export const setServerCredentials = operation({
  name: 'set_server_credentials',
  right: 'bridge',
  summary: 'Sets the credentials of a user for a server; null deletes them',
  input: z.strictObject({
    name: z.string().min(1),
    user: z.string().min(1),
    credentials: z
      .strictObject({
        env: z.record(z.string(), z.string()).exactOptional(),
        headers: z.record(z.string(), z.string()).exactOptional(),
      })
      .nullable(),
  }),
  output: z.strictObject({}),
  async run({ gateway }, { name, user, credentials }) {
    valueFrom(await gateway.keepCredentials(name, user, credentials));
    return {};
  },
});
