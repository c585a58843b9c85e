import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import { USAGE_SPANS, type UsageSpan } from '../../src/core/vocabulary/principal.ts';
import {
  type ApiKey,
  type AuditEntry,
  type AuditStore,
  exceeded,
  type KeyStore,
  keyCreated,
  keyRevoked,
  type OAuthRecord,
  type OAuthStore,
  scopeChanged,
  type Usage,
  type UsageStore,
  windowStart,
} from '../../src/engine/ports.ts';

/** The parts of the in-memory store for keys and the audit log. */

export function createMemoryAudit(): AuditStore {
  const entries: AuditEntry[] = [];
  return {
    async append(entry) {
      entries.push(structuredClone({ ...entry, seq: entries.length + 1 }));
    },
    list: async ({ limit, action, subject, before = Number.POSITIVE_INFINITY }) =>
      entries
        .filter((entry) => entry.seq < before)
        .filter((entry) => action === undefined || entry.action === action)
        .filter((entry) => subject === undefined || entry.subject === subject)
        .reverse()
        .slice(0, limit)
        .map((entry) => structuredClone(entry)),
  };
}

export function createMemoryKeys(audit: AuditStore): KeyStore {
  const keys = new Map<string, ApiKey>();
  const all = () => [...keys.values()];
  const inUse = (idOrName: string) =>
    all().find(({ id, name, revokedAt }) => revokedAt === null && (id === idOrName || name === idOrName));
  return {
    async create(key) {
      const isTaken = all().some(
        ({ id, name, hash, revokedAt }) =>
          id === key.id || hash === key.hash || (name === key.name && revokedAt === null),
      );
      if (isTaken) throw new PmlError('store_conflict', `A key "${key.name}" is already stored`);
      keys.set(key.id, structuredClone(key));
      await audit.append(keyCreated(key));
    },
    get: async (id) => structuredClone(keys.get(id)) ?? null,
    findByHash: async (hash) => structuredClone(all().find((key) => key.hash === hash)) ?? null,
    list: async () => all().map((key) => structuredClone(key)),
    async revoke(idOrName, by, at) {
      const key = inUse(idOrName);
      if (!key) return null;
      const revoked = { ...key, revokedAt: at, revokedBy: by };
      keys.set(key.id, revoked);
      await audit.append(keyRevoked(revoked, by, at));
      return structuredClone(revoked);
    },
    async setScope(idOrName, scope, by, at) {
      const key = inUse(idOrName);
      if (!key) return null;
      const { scope: _, ...rest } = key;
      const changed: ApiKey = structuredClone({ ...rest, ...(scope && { scope }) });
      keys.set(key.id, changed);
      await audit.append(scopeChanged(changed, by, at));
      return structuredClone(changed);
    },
  };
}

export function createMemoryUsage(): UsageStore {
  const windows = new Map<string, Usage & { readonly startedAt: Date }>();
  const uses = new Map<string, Date>();
  const nameOf = (keyId: string, per: UsageSpan, at: Date) =>
    `${keyId} ${per} ${windowStart(per, at).getTime()}`;
  const added = (keyId: string, per: UsageSpan, at: Date, amount: Usage) => {
    const before = windows.get(nameOf(keyId, per, at));
    const sum = (unit: keyof Usage) => Math.max(0, (before?.[unit] ?? 0) + amount[unit]);
    const startedAt = windowStart(per, at);
    return { per, startedAt, calls: sum('calls'), tokens: sum('tokens'), seconds: sum('seconds') };
  };
  return {
    async reserve(reservation) {
      const { keyId, at, amount, limits } = reservation;
      const after = [...new Set(limits.map(({ per }) => per))].map((per) => added(keyId, per, at, amount));
      const limit = exceeded(reservation, after);
      if (limit) return limit;
      for (const { per, ...window } of after) windows.set(nameOf(keyId, per, at), window);
      return null;
    },
    async correct({ keyId, at, amount }, spans) {
      for (const span of new Set(spans)) {
        const { per, ...window } = added(keyId, span, at, amount);
        windows.set(nameOf(keyId, per, at), window);
      }
    },
    read: async (keyId, at) =>
      USAGE_SPANS.flatMap((per) => {
        const window = windows.get(nameOf(keyId, per, at));
        return window ? [{ per, ...window }] : [];
      }),
    async prune(before) {
      for (const [name, { startedAt }] of windows) if (startedAt < before) windows.delete(name);
    },
    async noteUse(keyId, at) {
      if (at > (uses.get(keyId) ?? new Date(0))) uses.set(keyId, at);
    },
    lastUses: async () => new Map(uses),
  };
}

export function createMemoryOAuth(): OAuthStore {
  const records = new Map<string, OAuthRecord>();
  const at = (kind: string, id: string) => `${kind} ${id}`;
  const all = () => [...records.entries()];
  return {
    put: async (record) => void records.set(at(record.kind, record.id), structuredClone(record)),
    get: async (kind, id) => structuredClone(records.get(at(kind, id))) ?? null,
    list: async (kind) =>
      all()
        .filter(([, record]) => record.kind === kind)
        .map(([, record]) => structuredClone(record)),
    async consume(kind, id, consumedAt) {
      const found = records.get(at(kind, id));
      if (!found || found.consumedAt !== null) return false;
      records.set(at(kind, id), { ...found, consumedAt });
      return true;
    },
    remove: async (kind, id) => void records.delete(at(kind, id)),
    async removeGrant(grantId) {
      const gone = all().filter(([, record]) => record.grantId === grantId);
      for (const [key] of gone) records.delete(key);
      return gone.length > 0;
    },
    async sweep(before) {
      for (const [key, { expiresAt }] of all()) if (expiresAt < before) records.delete(key);
    },
  };
}
