import type { ApiKey, AuditEntry } from '../ports.ts';

/** Keys and the audit log as programs see them: snake_case, dates as text, no hash of a key. */

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

export function auditToWire({ at, ...entry }: AuditEntry) {
  return { ...entry, at: at.toISOString() };
}
