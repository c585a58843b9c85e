import { z } from 'zod';
import { KEY_ROLES } from '../core/vocabulary/principal.ts';
import type { ApiKey } from '../engine/ports.ts';
import { operation } from './operation.ts';

/** A key without its hash. */
export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    user: z.string(),
    role: z.enum(KEY_ROLES),
    created_at: z.string(),
    created_by: z.string(),
    revoked_at: z.string().nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'ApiKey' });

export const listKeys = operation({
  name: 'list_keys',
  right: 'bridge',
  summary: 'The API keys of people and agents',
  input: z.strictObject({
    /** Includes revoked keys. */
    revoked: z.boolean().default(false),
  }),
  output: z.object({ keys: z.array(apiKey) }),
  async run({ gateway }, { revoked }) {
    const keys = await gateway.people.keys();
    return { keys: keys.filter(({ revokedAt }) => revoked || revokedAt === null).map(keyToWire) };
  },
});

export function keyToWire(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    user: key.user,
    role: key.role,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    revoked_by: key.revokedBy,
  };
}
