import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { printable } from '../../../core/vocabulary/text.ts';
import { changeLines } from '../asked-for.ts';
import type { CommandContext } from '../command.ts';
import { confirmed } from '../confirmed.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly yes?: boolean;
}

export function addAcceptCommand(servers: Command, context: CommandContext): void {
  const { terminal } = context;
  servers
    .command('accept')
    .argument('<name>', 'which server')
    .description('see what a server changed of its tools and of its words about itself, and accept it')
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
          lines.length > 0 && (await confirmed(terminal, 'Accept all of it?', options))
            ? Boolean(await gateway.acceptServer(name, userInfo().username, hash))
            : false;
        if (options.json) terminal.out(`${JSON.stringify({ name, words, tools, accepted: isAccepted })}\n`);
        else if (lines.length === 0) terminal.out(`Nothing of "${name}" waits to be accepted.\n`);
        else terminal.out(isAccepted ? `"${name}" is accepted as it is now.\n` : 'Nothing was accepted.\n');
      }),
    );
}
