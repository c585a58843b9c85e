/** By which a key is known for one, to people, to scanners and to redaction. */
export const KEY_PREFIX = 'pml_';

/** Roles a key may have. */
export const KEY_ROLES = ['agent', 'operator', 'viewer'] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

/** `owner`: the person who holds the data dir, and with it the token in it. */
export type Role = KeyRole | 'owner';

/** Somebody who is authenticated. */
export interface Principal {
  /** For the record: the name of the key, or of the person who owns the data dir. */
  readonly name: string;
  /** Whose runs are this one's own; several keys may be of one user. */
  readonly user: string;
  readonly role: Role;
  /** Null for the owner. */
  readonly keyId: string | null;
  /** The login of the browser that speaks; absent for programs. */
  readonly loginId?: string;
}

export const VISIBILITIES = ['private', 'shared'] as const;

export type Visibility = (typeof VISIBILITIES)[number];

/** Whose a run is, and who may see what it was about. */
export interface Ownership {
  /** Null: nobody's in particular, as of runs that were imported. */
  readonly owner: string | null;
  readonly visibility: Visibility;
}
