import type { KeyScope } from './key-scope.ts';
/** Prefix by which people, secret scanners and redaction recognise a key. */
export const KEY_PREFIX = 'pml_';

/** Roles a key may have. */
export const KEY_ROLES = ['agent', 'operator', 'viewer'] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

/** `owner`: the person who holds the data dir, and with it the token in it. */
export type Role = KeyRole | 'owner';

/** An authenticated person or program. */
export interface Principal {
  /** Name for the record: that of the key, or of the person who owns the data dir. */
  readonly name: string;
  /** The user whose runs count as this principal's own; a user may have several keys. */
  readonly user: string;
  readonly role: Role;
  /** Null for the owner. */
  readonly keyId: string | null;
  /** The browser's login; absent for programs. */
  readonly loginId?: string;
  /** Absent: everything that the role allows. */
  readonly scope?: KeyScope;
  /** The OAuth client that acts for them; absent when they act themselves. */
  readonly clientId?: string;
}

export const VISIBILITIES = ['private', 'shared'] as const;

export type Visibility = (typeof VISIBILITIES)[number];

/** Who owns a run, and who may see its content. */
export interface Ownership {
  /** Null: no owner, as for imported runs. */
  readonly owner: string | null;
  readonly visibility: Visibility;
}

/**
 * HTTP header in which a bridge names the client it speaks for: requests of the 2026-07-28 era have no
 * session, and a session of the older era ends with the gateway process while its client lives on.
 */
export const CLIENT_HEADER = 'x-pml-client';
