import { z } from 'zod';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';
import { apiKey, keyToWire } from './shapes/key.ts';

export const revokeKey = operation({
  name: 'revoke_key',
  right: 'keys',
  summary: 'Revokes an API key immediately',
  input: z.strictObject({
    /** Name or id of the key. */
    name: z.string(),
  }),
  output: apiKey,
  run: async ({ gateway }, { name }, caller) =>
    keyToWire(await gateway.people.revokeKey(name, deciderOf(caller))),
});
