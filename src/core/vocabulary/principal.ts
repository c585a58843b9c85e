/** Globs, of which one in `allow` and none in `deny` must match. An empty `allow` allows nothing. */
export interface ScopeRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const USAGE_UNITS = ['calls', 'tokens', 'seconds'] as const;

export type UsageUnit = (typeof USAGE_UNITS)[number];

/** Windows begin with the minute, hour or day of UTC. */
export const USAGE_SPANS = ['minute', 'hour', 'day'] as const;

export type UsageSpan = (typeof USAGE_SPANS)[number];

/** A budget, or, per minute, a rate limit. */
export interface UsageLimit {
  readonly unit: UsageUnit;
  readonly per: UsageSpan;
  readonly most: number;
}

/** `search`: the tools of `/mcp`; `native`: those of the servers; `both`. */
export const LANES = ['search', 'native', 'both'] as const;

export type Lane = (typeof LANES)[number];

/** What a key may use, and how much of it. A principal without one may use everything. */
export interface KeyScope {
  /** On tool ids, such as `github:get_*`. */
  readonly tools: ScopeRules;
  /** On the names of servers; rules their prompts and resources, too. */
  readonly servers: ScopeRules;
  /** All of them hold. */
  readonly limits: readonly UsageLimit[];
  /** Rounds of the same calls with the same answers before a further one is refused; null: as many as it likes. */
  readonly loops: number | null;
  /** What an MCP client sees at `/mcp` and `/mcp/all`; null: what it asks for by the address. */
  readonly lane: Lane | null;
  /** A wider scope that holds as well, so that a scope can be narrowed without knowing it. */
  readonly within?: KeyScope;
}

export const ALL: ScopeRules = { allow: ['*'], deny: [] };

/** To be narrowed: `{ ...FULL_SCOPE, servers: … }`. */
export const FULL_SCOPE: KeyScope = { tools: ALL, servers: ALL, limits: [], loops: null, lane: null };
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
