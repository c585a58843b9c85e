import { z } from 'zod';
import { operation } from './operation.ts';
import { apiKey, keyToWire, usedToWire } from './shapes/key.ts';

export const listKeys = operation({
  name: 'list_keys',
  right: 'keys',
  summary: 'The API keys of people and agents',
  input: z.strictObject({
    /** Includes revoked keys. */
    revoked: z.boolean().default(false),
  }),
  output: z.object({ keys: z.array(apiKey) }),
  async run({ gateway }, { revoked }) {
    const keys = (await gateway.people.keys()).filter(({ revokedAt }) => revoked || revokedAt === null);
    const lastUses = await gateway.people.lastUses();
    const told = keys.map(async (key) => {
      const isLimited = (key.scope?.limits.length ?? 0) > 0;
      return {
        ...keyToWire(key),
        last_used_at: lastUses.get(key.id)?.toISOString() ?? null,
        ...(isLimited && { used: usedToWire(await gateway.people.usage(key)) }),
      };
    });
    return { keys: await Promise.all(told) };
  },
});
