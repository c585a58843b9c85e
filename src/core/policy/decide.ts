import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { matchesAnyCase, matchesGlob } from './glob.ts';

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly default: 'allow' | 'ask' | 'deny';
  /** `careful` turns a default of `allow` into `ask` for every tool not marked read-only. */
  readonly profile: 'standard' | 'careful';
  /** Tools that need not be read-only to be called in runs that PML starts by itself. `decide` does not look at them. */
  readonly auto: readonly string[];
}

export interface Verdict {
  readonly action: 'allow' | 'ask' | 'deny';
  /** Why, as shown to the person who is asked and to the agent that is refused. */
  readonly reason: string;
}

type Subject = Pick<ToolDefinition, 'id' | 'annotations'>;

/**
 * deny > ask > allow. Without a rule, a tool that calls itself destructive asks and the rest follow
 * the default; a tool's own hints can make it stricter, and `readOnlyHint` only under `careful`.
 */
export function decide(rules: PermissionRules, tool: Subject): Verdict {
  for (const action of ['deny', 'ask', 'allow'] as const) {
    // What restricts holds for every spelling, what grants only for its own.
    const matches = action === 'allow' ? matchesGlob : matchesAnyCase;
    const glob = rules[action].find((candidate) => matches(candidate, tool.id));
    if (glob !== undefined) return { action, reason: `permissions.${action} has "${glob}"` };
  }
  if (tool.annotations?.destructiveHint === true && rules.default !== 'deny') {
    return { action: 'ask', reason: 'the tool says of itself that it is destructive' };
  }
  const isCareful = rules.profile === 'careful' && rules.default === 'allow';
  if (isCareful && tool.annotations?.readOnlyHint !== true) {
    return { action: 'ask', reason: 'the careful profile asks for every tool not marked read-only' };
  }
  return { action: rules.default, reason: `permissions.default is "${rules.default}"` };
}
