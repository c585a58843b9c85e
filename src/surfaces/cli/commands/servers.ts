import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { type ErrorShape, PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import { type CommandContext, type CommandModule, columns, countOf } from '../command.ts';
import { confirmed, parsePair } from '../parse-option.ts';
import type { GlobalOptions, ImportOptions } from '../system.ts';
import { changeLines } from '../tell-run.ts';
import { withGateway } from '../with-gateway.ts';
import { addLoginCommand } from './servers-login.ts';

interface Options extends GlobalOptions {
  readonly yes?: boolean;
}

interface AddOptions extends GlobalOptions {
  readonly url?: string;
  readonly sse?: boolean;
  readonly header?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** False with `--no-start`. */
  readonly start?: boolean;
}

const ADD_EXAMPLES = `
Example:
  $ pml servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  $ pml servers add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization=Bearer \${GITHUB_TOKEN}'`;

export const serversCommand: CommandModule = (program, context) => {
  const { system, terminal } = context;
  const servers = program.command('servers').description('manage the MCP servers behind the gateway');

  servers
    .command('ls', { isDefault: true })
    .description('list the servers with their state and number of tools')
    .addHelpText('after', '\nExample:\n  $ pml servers ls')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'servers', async (pml) => {
        // Without the event id to continue from: commands do not follow events.
        const { servers: found } = await pml.listServers();
        if (options.json) terminal.out(`${JSON.stringify({ servers: found })}\n`);
        else terminal.out(found.length === 0 ? NO_SERVERS : columns([HEAD, ...found.map(row)]));
      }),
    );

  servers
    .command('add')
    .argument('<name>', 'name of the server')
    .argument('[command...]', 'after --: the command that starts the server, and its arguments')
    .description('add a server to the configuration')
    .option('--url <url>', 'address of an HTTP server, instead of a command')
    .option('--sse', 'with --url: use the older HTTP+SSE transport')
    .option('--header <name=value>', 'HTTP header to send; can be repeated', parsePair)
    .option('--env <name=value>', 'environment variable to set; can be repeated', parsePair)
    .option('--cwd <dir>', 'working directory of the server')
    .option('--no-start', 'do not start the server to check that it works')
    .addHelpText('after', ADD_EXAMPLES)
    .action((name: string, command: string[], options: AddOptions) =>
      add(name, entryOf(command, options), options),
    );

  addImportCommand(servers, context, add);

  servers
    .command('remove')
    .argument('<name>', 'name of the server')
    .description('remove a server from the configuration')
    .addHelpText('after', '\nExample:\n  $ pml servers remove files')
    .action(async (name: string, options: GlobalOptions) => {
      const watched = await isRunning(context, options);
      const file = await system.removeServer(options, name);
      tell(watched, `Removed "${name}" from ${file}.`, { name, file }, options);
    });

  servers
    .command('restart')
    .argument('<name>', 'name of the server')
    .description('restart a server of the running gateway')
    .addHelpText('after', '\nExample:\n  $ pml servers restart files')
    .action((name: string, options: GlobalOptions) =>
      withRunning(context, options, async (pml) => {
        const restarted = await pml.restartServer({ name });
        if (options.json) terminal.out(`${JSON.stringify(restarted)}\n`);
        else terminal.out(`Restarted "${name}" (MCP ${restarted.protocol_version}).\n`);
      }),
    );

  servers
    .command('logs')
    .argument('<name>', 'name of the server')
    .description('print the last stderr output of a server of the running gateway')
    .addHelpText('after', '\nExample:\n  $ pml servers logs files')
    .action((name: string, options: GlobalOptions) =>
      withRunning(context, options, async (pml) => {
        const logs = await pml.getServerLogs({ name });
        const { lines } = logs;
        if (options.json) terminal.out(`${JSON.stringify(logs)}\n`);
        else if (lines.length > 0) terminal.out(`${lines.map(printable).join('\n')}\n`);
        else terminal.err(`"${name}" has written nothing to stderr.\n`);
      }),
    );

  addAcceptCommand(servers, context);
  addLoginCommand(servers, context);

  async function add(
    name: string,
    entry: Readonly<Record<string, unknown>>,
    options: GlobalOptions & { readonly start?: boolean },
  ): Promise<void> {
    const watched = await isRunning(context, options);
    const file = await system.addServer(options, name, entry);
    const found = options.start === false ? {} : await tried(context, options, name, watched);
    tell(watched, `Added "${name}" to ${file}.`, { name, file, ...found }, options);
    if ('tools' in found && !options.json) terminal.out(`It works: ${countOf(found.tools, 'tool')}.\n`);
    if (!('error' in found)) return;
    const { message, hint } = found.error;
    terminal.err(`It does not work yet: ${printable(message)}\n`);
    if (hint !== undefined) terminal.err(`  ${printable(hint)}\n`);
    terminal.err(`It stays in the file; remove it with "pml servers remove ${name}".\n`);
  }

  function tell(watched: boolean, sentence: string, result: object, options: GlobalOptions): void {
    const next = watched
      ? 'The running gateway applies the change automatically.'
      : 'The change takes effect at the next start.';
    terminal.out(options.json ? `${JSON.stringify({ ...result, watched })}\n` : `${sentence} ${next}\n`);
  }
};

const DEFAULTS = {
  /** Milliseconds that a running gateway has to notice a change of its file, and between two looks. */
  noticeMs: 10_000,
  lookMs: 200,
};

/** Starts a server that was just added, in the running gateway or in this process, and says what it found. */
async function tried(
  context: CommandContext,
  options: GlobalOptions,
  name: string,
  watched: boolean,
): Promise<{ tools: number } | { error: ErrorShape } | Record<string, never>> {
  const start = async (pml: OperationClient) => {
    const isThere = async () => (await pml.listServers()).servers.some((server) => server.name === name);
    const until = performance.now() + (watched ? DEFAULTS.noticeMs : 0);
    while (!(await isThere())) {
      // A gateway that was started without any file does not look for one.
      if (performance.now() >= until) return {};
      await setTimeout(DEFAULTS.lookMs);
    }
    return { tools: (await pml.restartServer({ name })).tools };
  };
  try {
    return await withGateway(context, options, 'servers', start);
  } catch (error) {
    // The file is written: that it cannot be tried is told, too.
    return { error: PmlError.from(error).toShape() };
  }
}

const NO_SERVERS = 'No servers yet. "pml init" imports those of your clients, "pml servers add" adds one.\n';
const HEAD = ['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'IN FLIGHT', ''];

function row(server: Answer<'list_servers'>['servers'][number]): string[] {
  const {
    name,
    state,
    transport,
    tools,
    calls_in_flight: calls,
    changed_tools: changedTools,
    error,
  } = server;
  const waiting = server.calls_waiting > 0 ? `+${server.calls_waiting}` : '';
  const changed = changedTools.length > 0 ? `changed definitions: ${changedTools.join(', ')}` : '';
  const strange = new Set(server.suspicions.map(({ tool }) => tool ?? name));
  const suspicious =
    strange.size > 0 ? `suspicious texts: ${[...strange].join(', ')} (see "pml doctor")` : '';
  const remarks = printable(
    [error?.message ?? '', changed, suspicious].filter((remark) => remark !== '').join('; '),
  );
  return [name, state, transport, String(tools), `${calls}${waiting}`, remarks];
}

function entryOf(command: readonly string[], options: AddOptions): Readonly<Record<string, unknown>> {
  const { url, sse, header, env, cwd } = options;
  const [program, ...args] = command;
  if ((program === undefined) === (url === undefined)) {
    throw new PmlError('usage', 'A server needs either a command after "--" or a --url, not both', {
      hint: 'For example: pml servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/data',
    });
  }
  if (url === undefined) {
    return {
      command: program,
      ...(args.length > 0 && { args }),
      ...(env && { env }),
      ...(cwd && { cwd: resolve(cwd) }),
    };
  }
  return { url, ...(sse && { type: 'sse' }), ...(header && { headers: header }), ...(env && { env }) };
}

/** Other commands also hold the data folder for a moment, but run no servers. */
async function isRunning({ system }: CommandContext, options: GlobalOptions): Promise<boolean> {
  const holder = await system.holder(options);
  return holder?.role === 'serve' || holder?.role === 'stdio';
}

/** Server processes and their output belong to the gateway that runs them. */
async function withRunning(
  context: CommandContext,
  options: GlobalOptions,
  work: (pml: OperationClient) => Promise<void>,
): Promise<void> {
  if (await isRunning(context, options)) return await withGateway(context, options, 'servers', work);
  throw new PmlError('not_found', `No gateway is running for ${context.system.dataDir(options)}`, {
    hint: '"pml serve" and "pml stdio" start servers when they are first needed.',
  });
}

function addAcceptCommand(servers: Command, context: CommandContext): void {
  const { terminal } = context;
  servers
    .command('accept')
    .argument('<name>', 'name of the server')
    .description('review and accept changes to the tools and the description of a server')
    .option('--yes', 'accept without asking')
    .addHelpText('after', '\nExample:\n  $ pml servers accept files')
    .action((name: string, options: Options) =>
      withGateway(context, options, 'servers', async (pml) => {
        const { words, tools, hash } = await pml.getServerChanges({ name });
        const lines = [
          ...words.flatMap((change) => [name, ...changeLines(change)]),
          ...tools.flatMap(({ tool, changes }) => [tool, ...changes.flatMap(changeLines)]),
        ];
        if (!options.json) terminal.err(lines.map((line) => `${printable(line)}\n`).join(''));
        const isAccepted =
          lines.length > 0 && (await confirmed(terminal, 'Accept all changes?', options))
            ? Boolean(await pml.acceptServerChanges({ name, hash }))
            : false;
        if (options.json) terminal.out(`${JSON.stringify({ name, words, tools, accepted: isAccepted })}\n`);
        else if (lines.length === 0) terminal.out(`"${name}" has no changes to accept.\n`);
        else terminal.out(isAccepted ? `Accepted the changes to "${name}".\n` : 'Nothing was accepted.\n');
      }),
    );
}

interface AddImportOptions extends ImportOptions {
  readonly name?: string;
  readonly yes?: boolean;
  /** False with `--no-start`. */
  readonly start?: boolean;
}

/** Adds an entry to the configuration and starts it, as `pml servers add` does. */
type AddServer = (
  name: string,
  entry: Readonly<Record<string, unknown>>,
  options: AddImportOptions,
) => Promise<void>;

const IMPORT_EXAMPLES = `
Example:
  $ pml servers import server.json
  $ pml servers import io.github.user/weather --mirror registry.json --set city=Paris
  $ pml servers import openapi.yaml --name shop --header 'X-Api-Key=\${SHOP_KEY}'`;

function addImportCommand(servers: Command, { system, terminal }: CommandContext, add: AddServer): void {
  servers
    .command('import')
    .argument('<source>', 'a server.json, an OpenAPI document, or with --mirror the name of a server')
    .description("add a server from a registry's description or an OpenAPI document")
    .option('--mirror <file>', 'a copy of a registry: its response to a request for servers')
    .option('--name <name>', 'name of the server in PML')
    .option('--via <kind>', 'which of several packages to use: npm, pypi, oci or remote')
    .option(
      '--set <name=value>',
      'an argument or variable that the server asks for; can be repeated',
      parsePair,
    )
    .option('--url <url>', 'for an OpenAPI document: the address of the API')
    .option(
      '--header <name=value>',
      'for an OpenAPI document: HTTP header to send; can be repeated',
      parsePair,
    )
    .option('--yes', 'add it without asking')
    .option('--no-start', 'do not start the server to check that it works')
    .addHelpText('after', IMPORT_EXAMPLES)
    .action(async (source: string, options: AddImportOptions) => {
      const found = await system.readImport(options, source);
      const name = options.name ?? found.name;
      // Before anything is written or started: the file may be anyone's.
      terminal.err(`${printable(name)}:\n`);
      for (const line of JSON.stringify(found.entry, null, 2).split('\n'))
        terminal.err(`  ${printable(line)}\n`);
      for (const note of found.notes) terminal.err(`${printable(note)}\n`);
      if (await confirmed(terminal, 'Add and start it?', options)) await add(name, found.entry, options);
      else terminal.out('Nothing was added.\n');
    });
}
