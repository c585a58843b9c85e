import type { ApiKey, AuditEntry } from './people-store.ts';
import type { Approval } from './store.ts';

type Entry = Omit<AuditEntry, 'seq'>;

/** What every store writes into the audit log by itself, with the change it is about. */

export function keyCreated({ id, name, user, role, createdAt, createdBy }: ApiKey): Entry {
  const details = { name, user, role };
  return { at: createdAt, actor: createdBy, action: 'key_created', subject: id, hash: null, details };
}

export function keyRevoked({ id, name, user, role }: ApiKey, by: string, at: Date): Entry {
  return { at, actor: by, action: 'key_revoked', subject: id, hash: null, details: { name, user, role } };
}

/** The hash is that of the exact call. */
export function approvalSettled(
  { id, runId, node, argumentsHash }: Pick<Approval, 'id' | 'runId' | 'node' | 'argumentsHash'>,
  action: 'approved' | 'rejected',
  actor: string,
  at: Date,
): Entry {
  return { at, actor, action, subject: runId, hash: argumentsHash, details: { node, approval_id: id } };
}
