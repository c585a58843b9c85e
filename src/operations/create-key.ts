import { z } from 'zod';
import { KEY_ROLES } from '../core/vocabulary/principal.ts';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';
import { apiKey, keyScope, keyToWire } from './shapes/key.ts';

export const createKey = operation({
  name: 'create_key',
  right: 'keys',
  summary: 'Creates an API key, which is returned only once',
  input: z.strictObject({
    name: z.string(),
    role: z.enum(KEY_ROLES).default('agent'),
    /** By default the name of the key. */
    user: z.string().optional(),
    /** By default everything that the role allows. */
    scope: keyScope.optional(),
  }),
  output: apiKey.extend({ key: z.string() }),
  async run({ gateway }, { name, role, user, scope }, caller) {
    const order = {
      name,
      role,
      by: deciderOf(caller),
      ...(user !== undefined && { user }),
      ...(scope && { scope }),
    };
    const { key, secret } = await gateway.people.createKey(order);
    return { ...keyToWire(key), key: secret };
  },
});
