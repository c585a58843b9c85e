import { z } from 'zod';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';
import { apiKey, keyScope, keyToWire } from './shapes/key.ts';

export const setKeyScope = operation({
  name: 'set_key_scope',
  right: 'keys',
  summary: 'Sets what a key may use and how much, from its next request on',
  input: z.strictObject({
    /** Name or id of the key. */
    name: z.string(),
    /** Replaces the former one; null: everything that the role allows. */
    scope: keyScope.nullable(),
  }),
  output: apiKey,
  run: async ({ gateway }, { name, scope }, caller) =>
    keyToWire(await gateway.people.setScope(name, scope, deciderOf(caller))),
});
