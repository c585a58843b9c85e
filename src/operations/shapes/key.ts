import { z } from 'zod';
import {
  KEY_ROLES,
  type KeyScope,
  LANES,
  USAGE_SPANS,
  USAGE_UNITS,
} from '../../core/vocabulary/principal.ts';
import type { ApiKey, UsageWindow } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Globs of a rule, and characters of each: all are compared with every tool. */
  globs: 200,
  globLength: 200,
  /** Rounds of the same calls and answers that a scope lets pass unless it says otherwise. */
  loops: 8,
};

const globs = z.array(z.string().min(1).max(DEFAULTS.globLength)).max(DEFAULTS.globs);

const rules = z.strictObject({ allow: globs.default(['*']), deny: globs.default([]) });

const everything = { allow: ['*'], deny: [] };

/** What a key may use. Whatever is left out is not restricted, but for loops, which are broken. */
export const keyScope = z
  .strictObject({
    /** On ids, such as `github:get_*`: one of `allow` and none of `deny` must match. */
    tools: rules.default(everything),
    /** On names; rules prompts and resources, too. */
    servers: rules.default(everything),
    limits: z
      .array(
        z.strictObject({
          unit: z.enum(USAGE_UNITS),
          per: z.enum(USAGE_SPANS),
          most: z.number().positive().max(1e12),
        }),
      )
      .max(USAGE_UNITS.length * USAGE_SPANS.length)
      .default([]),
    /** Rounds of the same calls with the same answers that are let pass; null: any number. */
    loops: z.int().min(2).max(1_000).nullable().default(DEFAULTS.loops),
    /** What MCP clients see at `/mcp` and `/mcp/all`; null: what the address says. */
    lane: z.enum(LANES).nullable().default(null),
  })
  .meta({ id: 'KeyScope' });

/** A key without its hash. */
export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    user: z.string(),
    role: z.enum(KEY_ROLES),
    created_at: z.string(),
    created_by: z.string(),
    revoked_at: z.string().nullable(),
    revoked_by: z.string().nullable(),
    /** Null: everything that its role allows. */
    scope: keyScope.nullable(),
    /** In lists; to the minute, whatever it was used for. Null: never. */
    last_used_at: z.string().nullable().optional(),
    /** Of a key with limits, in the windows of now; reserved amounts included. */
    used: z
      .array(
        z.object({
          per: z.enum(USAGE_SPANS),
          since: z.string(),
          calls: z.number(),
          tokens: z.number(),
          seconds: z.number(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'ApiKey' });

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
    scope: key.scope ? scopeToWire(key.scope) : null,
  };
}

export function scopeToWire({ tools, servers, limits, loops, lane }: KeyScope): z.output<typeof keyScope> {
  const rules = ({ allow, deny }: KeyScope['tools']) => ({ allow: [...allow], deny: [...deny] });
  return {
    tools: rules(tools),
    servers: rules(servers),
    limits: limits.map((limit) => ({ ...limit })),
    loops,
    lane,
  };
}

export function usedToWire(windows: readonly UsageWindow[]) {
  return windows.map(({ startedAt, ...used }) => ({ ...used, since: startedAt.toISOString() }));
}
