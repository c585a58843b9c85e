import type { Key } from '../../../shared/api-types.ts';
import { number, shownLine } from '../../format.ts';

const DEFAULTS = {
  /** Globs that a sentence shows of each rule. */
  globs: 6,
};

type Scope = NonNullable<Key['scope']>;
type Rules = Scope['tools'];
export type Limit = Scope['limits'][number];

export const ROLES = ['agent', 'viewer', 'operator'] as const satisfies readonly Key['role'][];

const LANES = {
  search: 'MCP clients see the tools of PML',
  native: 'MCP clients see the tools of the servers',
  both: 'MCP clients see the tools of PML and of the servers',
} satisfies Record<NonNullable<Scope['lane']>, string>;

const ALL: Rules = { allow: ['*'], deny: [] };

const isEverything = (allow: readonly string[]) => allow.length === 1 && allow[0] === '*';

/** One line for each thing that is restricted. */
export function inWords(scope: Key['scope']): readonly string[] {
  if (!scope) return ['Everything that its role allows'];
  const rules = [...rulesInWords('tools', scope.tools), ...rulesInWords('servers', scope.servers)];
  return [
    ...(rules.length === 0 ? ['All tools'] : rules),
    ...(scope.lane === null ? [] : [LANES[scope.lane]]),
    ...(scope.loops === null ? [] : [`Loops end after ${scope.loops} rounds`]),
  ];
}

function rulesInWords(what: 'tools' | 'servers', { allow, deny }: Rules): readonly string[] {
  const isAll = allow.includes('*');
  if (isAll && deny.length === 0) return [];
  if (allow.length === 0) return [`No ${what}`];
  const start = isAll ? `All ${what}` : `Only ${what} ${listed(allow)}`;
  return [deny.length === 0 ? start : `${start}, but not ${listed(deny)}`];
}

function listed(globs: readonly string[]): string {
  const shown = globs.slice(0, DEFAULTS.globs).map((glob) => shownLine(glob, 60));
  const more = globs.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${number(more)} more` : shown.join(', ');
}

export function usedOf({ used = [] }: Key, { unit, per }: Limit): number {
  return used.find((window) => window.per === per)?.[unit] ?? 0;
}

/** As `pml keys` takes it. */
const LIMIT = /^(calls|tokens|seconds)\/(minute|hour|day)=(\d{1,13}(?:\.\d{1,6})?)$/;

/** The rules of a scope as fields, with the names of the options of `pml keys`. */
export function schemaFor(scope: Key['scope']): object {
  const globs = (description: string, initial: readonly string[] = []) => ({
    type: 'array',
    items: { type: 'string', maxLength: 200 },
    description,
    ...(initial.length > 0 && { default: initial }),
  });
  const none = ({ allow }: Rules = ALL) => (allow.length === 0 ? 'Now none; * for all.' : 'None: all.');
  const named = (allow: readonly string[] = []) => (isEverything(allow) ? [] : allow);
  const limits = scope?.limits.map(({ unit, per, most }) => `${unit}/${per}=${most}`) ?? [];
  return {
    type: 'object',
    // A person who writes it as JSON is told of a wrong name: without that rule, the key could do more.
    additionalProperties: false,
    properties: {
      allow: globs(
        `Tools it may use, such as github:get_*. ${none(scope?.tools)}`,
        named(scope?.tools.allow),
      ),
      deny: globs('Tools it may not use, such as *:delete_*.', scope?.tools.deny),
      servers: globs(`Servers it may use. ${none(scope?.servers)}`, named(scope?.servers.allow)),
      deny_servers: globs('Servers it may not use.', scope?.servers.deny),
      limits: {
        type: 'array',
        items: { type: 'string', pattern: LIMIT.source },
        description: 'How much, such as calls/hour=200: calls, tokens or seconds per minute, hour or day.',
        ...(limits.length > 0 && { default: limits }),
      },
      loops: {
        type: 'integer',
        minimum: 2,
        maximum: 1_000,
        description: scope
          ? 'Ends loops after this many rounds of the same calls and answers. Empty: never.'
          : 'Ends loops after this many rounds of the same calls and answers; 8 if there are other rules.',
        ...(scope && scope.loops !== null && { default: scope.loops }),
      },
      lane: {
        enum: Object.keys(LANES),
        description: 'The tools that MCP clients see: of PML (search), of the servers (native), or both.',
        ...(scope?.lane && { default: scope.lane }),
      },
    },
  };
}

const RULES = schemaFor(null) as { readonly properties: object };

export const KEY_FIELDS = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'In lists and in the audit log.' },
    role: {
      enum: ROLES,
      default: 'agent',
      description: 'A viewer looks, an agent also runs, an operator also decides and manages.',
    },
    user: { type: 'string', description: 'The user its runs belong to. Empty: the name of the key.' },
    ...RULES.properties,
  },
  required: ['name', 'role'],
  additionalProperties: false,
};

interface GivenRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly servers?: readonly string[];
  readonly deny_servers?: readonly string[];
  readonly limits?: readonly string[];
  readonly loops?: number;
  readonly lane?: Scope['lane'];
}

/** What the fields say; null if they say nothing. The gateway checks it. */
export function scopeOf(before: Key['scope'], given: GivenRules): object | null {
  const { allow, deny = [], servers, deny_servers = [], limits = [], loops, lane = null } = given;
  // A rule that allows nothing is an empty field, too: it must not become one that allows everything.
  const allowed = (old: Rules | undefined, named: readonly string[] = old?.allow.length === 0 ? [] : ['*']) =>
    named;
  const tools = { allow: allowed(before?.tools, allow), deny };
  const allServers = { allow: allowed(before?.servers, servers), deny: deny_servers };
  const isUnruled = [tools, allServers].every((rule) => isEverything(rule.allow) && rule.deny.length === 0);
  if (isUnruled && limits.length === 0 && loops === undefined && lane === null) return null;
  return {
    tools,
    servers: allServers,
    limits: limits.map((text) => {
      const [, unit, per, most] = LIMIT.exec(text) ?? [];
      return { unit, per, most: Number(most) };
    }),
    // Without a former scope, the gateway's default holds.
    ...((before || loops !== undefined) && { loops: loops ?? null }),
    lane,
  };
}
