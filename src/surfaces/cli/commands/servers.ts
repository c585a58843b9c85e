import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { ServerReport } from '../../../engine/gateway.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import { serverToWire } from '../../../operations/shapes/server.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { confirmed, parsePair } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { changeLines } from '../tell-run.ts';
import { valueFrom, withGateway } from '../with-gateway.ts';
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
      withGateway(context, options, 'servers', async (gateway) => {
        const reports = await gateway.servers();
        if (options.json) terminal.out(`${JSON.stringify({ servers: reports.map(serverToWire) })}\n`);
        else terminal.out(reports.length === 0 ? NO_SERVERS : columns([HEAD, ...reports.map(row)]));
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
    .addHelpText('after', ADD_EXAMPLES)
    .action(async (name: string, command: string[], options: AddOptions) => {
      const entry = entryOf(command, options);
      const watched = await isRunning(context, options);
      const file = await system.addServer(options, name, entry);
      tell(watched, `Added "${name}" to ${file}.`, { name, file }, options);
    });

  servers
    .command('remove')
    .argument('<name>', 'which server')
    .description('remove a server from the configuration')
    .addHelpText('after', '\nExample:\n  $ pml servers remove files')
    .action(async (name: string, options: GlobalOptions) => {
      const watched = await isRunning(context, options);
      const file = await system.removeServer(options, name);
      tell(watched, `Removed "${name}" from ${file}.`, { name, file }, options);
    });

  servers
    .command('restart')
    .argument('<name>', 'which server')
    .description('restart a server of the running gateway')
    .addHelpText('after', '\nExample:\n  $ pml servers restart files')
    .action((name: string, options: GlobalOptions) =>
      withRunning(context, options, async (gateway) => {
        const { info, protocolVersion } = valueFrom(await gateway.restart(name));
        if (options.json) {
          terminal.out(`${JSON.stringify({ name, info, protocol_version: protocolVersion })}\n`);
        } else terminal.out(`"${name}" runs again and speaks MCP ${protocolVersion}.\n`);
      }),
    );

  servers
    .command('logs')
    .argument('<name>', 'which server')
    .description('print what a server of the running gateway last wrote to stderr')
    .addHelpText('after', '\nExample:\n  $ pml servers logs files')
    .action((name: string, options: GlobalOptions) =>
      withRunning(context, options, async (gateway) => {
        const lines = await gateway.logs(name);
        if (options.json) terminal.out(`${JSON.stringify({ name, lines })}\n`);
        else if (lines.length > 0) terminal.out(`${lines.map(printable).join('\n')}\n`);
        else terminal.err(`"${name}" has written nothing to stderr.\n`);
      }),
    );

  addAcceptCommand(servers, context);
  addLoginCommand(servers, context);

  function tell(watched: boolean, sentence: string, result: object, options: GlobalOptions): void {
    const next = watched
      ? 'The running gateway applies the change by itself.'
      : 'The change takes effect at the next start.';
    terminal.out(options.json ? `${JSON.stringify({ ...result, watched })}\n` : `${sentence} ${next}\n`);
  }
};

const NO_SERVERS = 'No servers yet. "pml init" imports those of your clients, "pml servers add" adds one.\n';
const HEAD = ['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'CALLS', ''];

function row(server: ServerReport): string[] {
  const { name, state, transport, tools, callsInFlight, callsWaiting, changedTools, error } = server;
  const waiting = callsWaiting > 0 ? `+${callsWaiting}` : '';
  const changed = changedTools.length > 0 ? `changed definitions: ${changedTools.join(', ')}` : '';
  const remarks = printable([error?.message ?? '', changed].filter((remark) => remark !== '').join('; '));
  return [name, state, transport, String(tools), `${callsInFlight}${waiting}`, remarks];
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

/** Commands hold the data dir for a moment too, but no servers. */
async function isRunning({ system }: CommandContext, options: GlobalOptions): Promise<boolean> {
  const holder = await system.holder(options);
  return holder?.role === 'serve' || holder?.role === 'stdio';
}

/** Processes and what they wrote belong to the gateway that runs them. */
async function withRunning(
  context: CommandContext,
  options: GlobalOptions,
  work: (gateway: GatewayClient) => Promise<void>,
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
    .argument('<name>', 'which server')
    .description('review and accept changes to the tools and the description of a server')
    .option('--yes', 'accept without asking')
    .addHelpText('after', '\nExample:\n  $ pml servers accept files')
    .action((name: string, options: Options) =>
      withGateway(context, options, 'servers', async (gateway) => {
        const { words, tools, hash } = await gateway.changesOfServer(name);
        const lines = [
          ...words.flatMap((change) => [name, ...changeLines(change)]),
          ...tools.flatMap(({ tool, changes }) => [tool, ...changes.flatMap(changeLines)]),
        ];
        if (!options.json) terminal.err(lines.map((line) => `${printable(line)}\n`).join(''));
        const isAccepted =
          lines.length > 0 && (await confirmed(terminal, 'Accept all changes?', options))
            ? Boolean(await gateway.acceptServer(name, userInfo().username, hash))
            : false;
        if (options.json) terminal.out(`${JSON.stringify({ name, words, tools, accepted: isAccepted })}\n`);
        else if (lines.length === 0) terminal.out(`"${name}" has no changes to accept.\n`);
        else
          terminal.out(isAccepted ? `The changes to "${name}" are accepted.\n` : 'Nothing was accepted.\n');
      }),
    );
}
