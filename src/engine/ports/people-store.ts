import type { KeyRole, KeyScope, UsageLimit, UsageSpan, UsageUnit } from '../../core/vocabulary/principal.ts';

/** A key as it is kept: by its hash, never as it was shown to its creator. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly role: KeyRole;
  /** SHA-256 of the whole key, in hex. */
  readonly hash: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  /** Absent: everything that its role allows. */
  readonly scope?: KeyScope;
}

/** Whatever changes here stands in the audit log as of the same commit. */
export interface KeyStore {
  /** A name that a key has which is not revoked is a `store_conflict`. */
  create(key: ApiKey): Promise<void>;
  /** Also a revoked one. */
  get(id: string): Promise<ApiKey | null>;
  findByHash(hash: string): Promise<ApiKey | null>;
  /** Oldest first. */
  list(): Promise<ApiKey[]>;
  /** By id, or by the name it has; null when there is none such that is not revoked. */
  revoke(idOrName: string, by: string, at: Date): Promise<ApiKey | null>;
  /** As `revoke`; null: everything that its role allows. */
  setScope(idOrName: string, scope: KeyScope | null, by: string, at: Date): Promise<ApiKey | null>;
}

export type Usage = Readonly<Record<UsageUnit, number>>;

/** What a key has used since the window began, reserved amounts included. */
export interface UsageWindow extends Usage {
  readonly per: UsageSpan;
  readonly startedAt: Date;
}

export interface UsageOrder {
  readonly keyId: string;
  /** Says which windows it counts in. */
  readonly at: Date;
  readonly amount: Usage;
}

export interface UsageReservation extends UsageOrder {
  readonly limits: readonly UsageLimit[];
}

/** How much keys have used, for all gateways on the store. */
export interface UsageStore {
  /** Adds the amount to the windows of all limits, or to none; then the limit that stands against it. */
  reserve(reservation: UsageReservation): Promise<UsageLimit | null>;
  /** Adds what an earlier reservation was short of, or takes back what it was too much, in the same windows. */
  correct(order: UsageOrder, spans: readonly UsageSpan[]): Promise<void>;
  /** The windows that `at` lies in and that something was counted in. */
  read(keyId: string, at: Date): Promise<UsageWindow[]>;
  /** Forgets windows that began before. */
  prune(before: Date): Promise<void>;
  /** The key was used at this time, whatever for. */
  noteUse(keyId: string, at: Date): Promise<void>;
  /** When each key was last used, by id. */
  lastUses(): Promise<ReadonlyMap<string, Date>>;
}

const SPAN_MS: Readonly<Record<UsageSpan, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Also of every other gateway on the store. */
export function windowStart(per: UsageSpan, at: Date): Date {
  return new Date(Math.floor(at.getTime() / SPAN_MS[per]) * SPAN_MS[per]);
}

export function windowEnd(per: UsageSpan, at: Date): Date {
  return new Date(windowStart(per, at).getTime() + SPAN_MS[per]);
}

/**
 * Every store decides in the same way, given what is used with the amount added: a limit that is not used up yet admits
 * one more, since what that takes is known only afterwards.
 */
export function exceeded(
  { limits, amount }: Pick<UsageReservation, 'limits' | 'amount'>,
  after: readonly (Usage & { readonly per: UsageSpan })[],
): UsageLimit | null {
  const isUsedUp = ({ unit, per, most }: UsageLimit) => {
    const used = after.find((window) => window.per === per)?.[unit] ?? 0;
    return used - amount[unit] >= most;
  };
  return limits.find(isUsedUp) ?? null;
}

export const AUDIT_ACTIONS = [
  'approved',
  'rejected',
  'edited',
  'key_created',
  'key_revoked',
  'policy_changed',
  'definition_accepted',
  'sharing_changed',
  'restored',
  'always_allowed',
  'always_revoked',
  'scope_changed',
  'limit_reached',
  'client_connected',
  'client_disconnected',
  'run_rated',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditEntry {
  /** In the order they were written. */
  readonly seq: number;
  readonly at: Date;
  /** Who did it. */
  readonly actor: string;
  readonly action: AuditAction;
  /** What it was done to: a run, a key, a tool, a file. */
  readonly subject: string;
  /** Of the exact call, definition or rules; null where there is none. */
  readonly hash: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditQuery {
  readonly limit: number;
  readonly action?: AuditAction;
  readonly subject?: string;
  /** Only entries before this one. */
  readonly before?: number;
}

/** Append-only: entries cannot be changed or removed. Decisions about approvals are recorded, too. */
export interface AuditStore {
  append(entry: Omit<AuditEntry, 'seq'>): Promise<void>;
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>;
}

/** One thing that the built-in authorization server keeps. */
export interface OAuthRecord {
  /** Such as `Client` or `RefreshToken`. */
  readonly kind: string;
  /** Unique within its kind. */
  readonly id: string;
  /** What ends together; null for what belongs to no grant. */
  readonly grantId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
  /** When it was used up; null until then. */
  readonly consumedAt: Date | null;
}

export interface OAuthStore {
  /** Replaces the record of the same kind and id. */
  put(record: OAuthRecord): Promise<void>;
  /** Also one that has expired, until it is swept. */
  get(kind: string, id: string): Promise<OAuthRecord | null>;
  /** Oldest first. */
  list(kind: string): Promise<OAuthRecord[]>;
  /** False when it was consumed before or does not exist: of two at once, one gets true. */
  consume(kind: string, id: string, at: Date): Promise<boolean>;
  remove(kind: string, id: string): Promise<void>;
  /** Everything of one grant; false when there was nothing. */
  removeGrant(grantId: string): Promise<boolean>;
  /** Removes what expired before. */
  sweep(before: Date): Promise<void>;
}

/** What every store writes into the audit log by itself, with the change it is about. */
type Entry = Omit<AuditEntry, 'seq'>;

export function keyCreated({ id, name, user, role, scope, createdAt, createdBy }: ApiKey): Entry {
  const details = { name, user, role, ...(scope && { scope }) };
  return { at: createdAt, actor: createdBy, action: 'key_created', subject: id, hash: null, details };
}

export function keyRevoked({ id, name, user, role }: ApiKey, by: string, at: Date): Entry {
  return { at, actor: by, action: 'key_revoked', subject: id, hash: null, details: { name, user, role } };
}

export function scopeChanged({ id, name, user, scope }: ApiKey, by: string, at: Date): Entry {
  const details = { name, user, scope: scope ?? null };
  return { at, actor: by, action: 'scope_changed', subject: id, hash: null, details };
}

/** The hash is that of the exact call. */
export function approvalSettled(
  { id, runId, node, argumentsHash }: Readonly<Record<'id' | 'runId' | 'node' | 'argumentsHash', string>>,
  action: 'approved' | 'rejected',
  actor: string,
  at: Date,
): Entry {
  return { at, actor, action, subject: runId, hash: argumentsHash, details: { node, approval_id: id } };
}
