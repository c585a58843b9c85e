import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import {
  type ApiKey,
  type AuditEntry,
  type AuditStore,
  type KeyStore,
  keyCreated,
  keyRevoked,
  type OAuthRecord,
  type OAuthStore,
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
      const key = all().find(
        ({ id, name, revokedAt }) => revokedAt === null && (id === idOrName || name === idOrName),
      );
      if (!key) return null;
      const revoked = { ...key, revokedAt: at, revokedBy: by };
      keys.set(key.id, revoked);
      await audit.append(keyRevoked(revoked, by, at));
      return structuredClone(revoked);
    },
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
