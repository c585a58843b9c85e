import { type Command, InvalidArgumentError, Option } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import {
  KEY_ROLES,
  type KeyRole,
  LANES,
  type Lane,
  USAGE_SPANS,
  USAGE_UNITS,
  type UsageLimit,
} from '../../../core/vocabulary/principal.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import { type CommandModule, columns } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface ScopeOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly server?: readonly string[];
  readonly denyServer?: readonly string[];
  readonly limit?: readonly UsageLimit[];
  readonly loops?: number | 'none';
  readonly lane?: Lane | 'none';
}

interface CreateOptions extends GlobalOptions, ScopeOptions {
  readonly role: KeyRole;
  readonly user?: string;
}

interface SetOptions extends GlobalOptions, ScopeOptions {
  readonly none?: boolean;
}

type Key = Answer<'list_keys'>['keys'][number];
type Scope = NonNullable<Key['scope']>;
type ScopeInput = NonNullable<Parameters<OperationClient['setKeyScope']>[0]['scope']>;

interface ListOptions extends GlobalOptions {
  readonly all?: boolean;
}

export const keysCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const keys = program.command('keys').description('manage the API keys of people and agents');

  keys
    .command('ls', { isDefault: true })
    .description('list the keys in use')
    .option('--all', 'include revoked keys')
    .addHelpText('after', '\nExample:\n  $ pml keys ls')
    .action((options: ListOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const listed = await pml.listKeys({ revoked: options.all ?? false });
        const found = listed.keys;
        if (options.json) terminal.out(`${JSON.stringify(listed)}\n`);
        else if (found.length === 0) terminal.out('No keys yet. Create one with "pml keys create".\n');
        else
          terminal.out(
            columns([['name', 'role', 'user', 'scope', 'made', 'last used', 'id'], ...found.map(row)]),
          );
      }),
    );

  withScope(keys.command('create'))
    .argument('<name>', 'name of the key in lists and in the audit log')
    .description('create a key; it is shown once and stored as a hash')
    .addOption(new Option('--role <role>', 'role of the key').choices(KEY_ROLES).default('agent'))
    .option('--user <name>', 'user the key belongs to (default: the name of the key)')
    .addHelpText(
      'after',
      '\nExample:\n  $ pml keys create ada-laptop --role agent --user ada\n  $ pml keys create grafana --role viewer\n' +
        "  $ pml keys create ci --allow 'github:get_*' --limit calls/hour=200 tokens/day=500000",
    )
    .action((name: string, { role, user, ...options }: CreateOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const scope = changed(null, options);
        const order = { name, role, ...(user !== undefined && { user }), ...(scope && { scope }) };
        const created = await pml.createKey(order);
        if (options.json) {
          terminal.out(`${JSON.stringify(created)}\n`);
          return;
        }
        // Only the key goes to stdout, so that it can be piped.
        terminal.out(`${created.key}\n`);
        terminal.err(`This is the only time the key is shown. Send it as "Authorization: Bearer KEY".\n`);
      }),
    );

  withScope(keys.command('scope'))
    .argument('<name>', 'name or id of the key')
    .description('show what a key may use and what it has used; options change what it may use')
    .option('--none', 'remove all limits: the key may do everything that its role allows')
    .addHelpText(
      'after',
      "\nExample:\n  $ pml keys scope ci\n  $ pml keys scope ci --deny 'github:delete_*' --limit calls/minute=30",
    )
    .action((name: string, { none, ...options }: SetOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const find = async () => {
          const { keys: all } = await pml.listKeys({});
          const key = all.find((one) => one.id === name || one.name === name);
          if (key) return key;
          throw new PmlError('not_found', `No active key "${name}"`, { hint: 'See "pml keys ls".' });
        };
        const now = await find();
        const scope = none ? null : changed(now.scope, options);
        if (none || scope) await pml.setKeyScope({ name: now.id, scope });
        const key = none || scope ? await find() : now;
        terminal.out(options.json ? `${JSON.stringify(key)}\n` : told(key));
      }),
    );

  keys
    .command('revoke')
    .argument('<name>', 'name or id of the key')
    .description('revoke a key immediately')
    .addHelpText('after', '\nExample:\n  $ pml keys revoke ada-laptop')
    .action((name: string, options: GlobalOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const key = await pml.revokeKey({ name });
        terminal.out(options.json ? `${JSON.stringify(key)}\n` : `Revoked key ${printable(key.name)}.\n`);
      }),
    );
};

function row({ name, role, user, created_at, revoked_at, scope, last_used_at, id }: Key): string[] {
  const made = created_at.slice(0, 10);
  const since = revoked_at === null ? made : `${made}, revoked ${revoked_at.slice(0, 10)}`;
  const used = last_used_at ? last_used_at.slice(0, 16).replace('T', ' ') : 'never';
  return [printable(name), role, printable(user), printable(inShort(scope)), since, used, id];
}

/** The options that a scope is made of. */
function withScope(command: Command): Command {
  return command
    .option('--allow <glob...>', 'tools it may use, such as "github:get_*" (default: all)')
    .option('--deny <glob...>', 'tools it may not use')
    .option('--server <glob...>', 'servers it may use (default: all)')
    .option('--deny-server <glob...>', 'servers it may not use')
    .addOption(
      new Option(
        '--limit <limit...>',
        'usage limits, as UNIT/SPAN=NUMBER: calls, tokens or seconds per minute, hour or day; "none" for no limit',
      ).argParser(readLimits),
    )
    .addOption(
      new Option(
        '--loops <rounds>',
        'refuse a call after this many rounds of the same calls and answers; "none" for never (default: 8)',
      ).argParser(readLoops),
    )
    .addOption(
      new Option(
        '--lane <lane>',
        'what MCP clients see, regardless of the address they use; "none" for no rule',
      ).choices([...LANES, 'none']),
    );
}

function readLimits(text: string, before: readonly UsageLimit[] = []): readonly UsageLimit[] {
  if (text === 'none') return [];
  const [, unit, per, most] = /^([a-z]+)\/([a-z]+)=(\d{1,12})$/.exec(text) ?? [];
  const limit = {
    unit: USAGE_UNITS.find((one) => one === unit),
    per: USAGE_SPANS.find((one) => one === per),
    most: Number(most),
  };
  if (limit.unit && limit.per && limit.most > 0) return [...before, limit as UsageLimit];
  throw new InvalidArgumentError('Write it as calls/hour=100, tokens/day=500000 or seconds/minute=30.');
}

function readLoops(text: string): number | 'none' {
  if (text === 'none') return text;
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 2 && rounds <= 1_000) return rounds;
  throw new InvalidArgumentError('Use a whole number from 2 to 1000, or "none".');
}

/** The scope with what was asked for; null when nothing was. */
function changed(before: Scope | null, asked: ScopeOptions): ScopeInput | null {
  const { allow, deny, server, denyServer, limit, loops, lane } = asked;
  const given = [allow, deny, server, denyServer, limit, loops, lane];
  if (given.every((option) => option === undefined)) return null;
  const rules = (old: Scope['tools'] | undefined, wanted?: readonly string[], not?: readonly string[]) => ({
    allow: wanted ?? old?.allow ?? ['*'],
    deny: not ?? old?.deny ?? [],
  });
  const limits = limit ?? before?.limits ?? [];
  return {
    tools: rules(before?.tools, allow, deny),
    servers: rules(before?.servers, server, denyServer),
    limits,
    ...(before && { loops: before.loops }),
    ...(loops !== undefined && { loops: loops === 'none' ? null : loops }),
    lane: lane === 'none' ? null : (lane ?? before?.lane ?? null),
  };
}

/** In one line of a table. */
function inShort(scope: Scope | null): string {
  if (!scope) return 'all';
  const parts = [
    rulesText('', scope.tools),
    rulesText('servers ', scope.servers),
    scope.limits.map(({ unit, per, most }) => `${most} ${unit}/${per}`).join(' '),
    scope.lane ?? '',
  ].filter((part) => part !== '');
  return parts.join('; ') || 'all';
}

function rulesText(what: string, { allow, deny }: Scope['tools']): string {
  const all = allow.includes('*') ? [] : allow;
  const words = [...all, ...deny.map((glob) => `not ${glob}`)];
  return words.length === 0 ? '' : `${what}${words.join(' ')}`;
}

function told({ name, scope, used = [] }: Key): string {
  if (!scope) return `${printable(name)} may use everything that its role allows.\n`;
  const lines = [
    ['tools', rulesText('', scope.tools) || 'all'],
    ['servers', rulesText('', scope.servers) || 'all'],
    ...scope.limits.map(({ unit, per, most }) => {
      const now = used.find((window) => window.per === per)?.[unit] ?? 0;
      return [`${unit}/${per}`, `${Math.round(now)} of ${most} used`];
    }),
    ['loops', scope.loops === null ? 'not stopped' : `stopped after ${scope.loops} rounds`],
    ['lane', scope.lane ?? 'set by the address'],
  ];
  return columns([['key', printable(name)], ...lines.map(([what, text]) => [what!, printable(text!)])]);
}
