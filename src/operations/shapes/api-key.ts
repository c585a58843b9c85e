import type { ApiKey } from '../../engine/ports.ts';

/** Without the hash. */
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
