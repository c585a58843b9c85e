import type { Command } from 'commander';
import { printable } from '../../../core/vocabulary/text.ts';
import type { CommandContext } from '../command.ts';
import { confirmed, parsePair } from '../parse-option.ts';
import type { ImportOptions } from '../system.ts';

interface Options extends ImportOptions {
  readonly name?: string;
  readonly yes?: boolean;
  /** False with `--no-start`. */
  readonly start?: boolean;
}

/** Adds an entry to the configuration and starts it, as `pml servers add` does. */
export type AddServer = (
  name: string,
  entry: Readonly<Record<string, unknown>>,
  options: Options,
) => Promise<void>;

const EXAMPLES = `
Example:
  $ pml servers import server.json
  $ pml servers import io.github.user/weather --mirror registry.json --set city=Paris
  $ pml servers import openapi.yaml --name shop --header 'X-Api-Key=\${SHOP_KEY}'`;

export function addImportCommand(
  servers: Command,
  { system, terminal }: CommandContext,
  add: AddServer,
): void {
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
    .option('--no-start', 'do not start the server to see whether it works')
    .addHelpText('after', EXAMPLES)
    .action(async (source: string, options: Options) => {
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
