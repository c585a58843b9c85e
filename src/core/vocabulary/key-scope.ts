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

const ALL: ScopeRules = { allow: ['*'], deny: [] };

/** To be narrowed: `{ ...FULL_SCOPE, servers: … }`. */
export const FULL_SCOPE: KeyScope = { tools: ALL, servers: ALL, limits: [], loops: null, lane: null };
