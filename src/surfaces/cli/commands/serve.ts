import { InvalidArgumentError, Option } from 'commander';
import type { CommandModule } from '../command.ts';
import type { RunningGateway, ServeOptions, StdioOptions } from '../system.ts';

export const stdioCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('stdio')
    .description('run the gateway as a stdio MCP server, for a client to start')
    .option('--native', "offer the tools of all servers, as server__tool, instead of PML's own")
    .option('--meta', "with --native: also offer PML's own tools")
    .addHelpText(
      'after',
      '\nExample, in a client\'s configuration:\n  { "command": "pml", "args": ["stdio"] }',
    )
    .action(async (options: StdioOptions) => {
      const gateway = await system.stdio(options);
      try {
        await Promise.race([gateway.ended, terminal.untilStopped()]);
      } finally {
        await gateway.close();
      }
    });
};

export const serveCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('serve')
    .description('run the gateway, its API and the dashboard in one process')
    .option('--port <number>', 'port to listen on, 0 for any free one (default 8080)', parsePort)
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .addOption(
      new Option('--demo [when]', 'try PML out on a scratch folder with four reference servers')
        .choices(['always', 'without-config'])
        .preset('always'),
    )
    .option('--verbose', 'also log runs, calls and servers that start, like PML_LOG=info')
    .addHelpText('after', '\nExample:\n  $ pml serve --port 9000')
    .action(async (options: ServeOptions) => {
      const gateway = await system.serve(options);
      terminal.out(options.json ? `${JSON.stringify(toJson(gateway))}\n` : announce(gateway));
      await terminal.untilStopped();
      terminal.err('Stopping.\n');
      await gateway.close();
    });
};

function announce(gateway: RunningGateway): string {
  const lines = [
    `PML is listening on ${gateway.url}`,
    '',
    `  Open in a browser (works once, for 15 minutes):  ${gateway.loginUrl}`,
    `  Data:    ${gateway.dataDir}`,
    `  Config:  ${gateway.settings.file ?? 'none'}`,
    `  Servers: ${gateway.settings.servers.map((server) => server.name).join(', ') || 'none'}`,
    '',
    ...gateway.notes.map((note) => `  ${note}`),
    ...(gateway.notes.length > 0 ? [''] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function toJson(gateway: RunningGateway) {
  return {
    url: gateway.url,
    login_url: gateway.loginUrl,
    data: gateway.dataDir,
    config: gateway.settings.file,
    servers: gateway.settings.servers.map((server) => server.name),
    notes: gateway.notes,
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError('Must be a number from 0 to 65535.');
  }
  return port;
}
