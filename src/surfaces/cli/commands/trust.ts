import { printable } from '../../../core/vocabulary/text.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import type { GlobalOptions } from '../system.ts';

interface Options extends GlobalOptions {
  readonly revoke?: boolean;
}

export const trustCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('trust')
    .argument('[file]', 'configuration file (default: pml.json in this folder)')
    .description('trust a pml.json with its current content; after a change it must be trusted again')
    .option('--revoke', 'stop trusting it')
    .addHelpText('after', '\nExample:\n  $ pml trust\n  $ pml trust ~/work/site/pml.json --revoke')
    .action(async (file: string | undefined, { revoke, ...options }: Options) => {
      if (revoke) {
        const { wasTrusted, file: named } = await system.distrust(options, file);
        if (options.json) terminal.out(`${JSON.stringify({ file: named, was_trusted: wasTrusted })}\n`);
        else terminal.out(`${named} ${wasTrusted ? 'is no longer trusted' : 'was not trusted'}.\n`);
        return;
      }
      const { file: named, servers } = await system.trust(options, file);
      if (options.json) {
        terminal.out(`${JSON.stringify({ file: named, servers })}\n`);
        return;
      }
      terminal.out(`${named} is trusted with its current content.\n`);
      if (servers.length === 0) return;
      terminal.out(
        `It starts or connects to:\n${columns(servers.map(({ name, runs }) => [`  ${printable(name)}`, printable(runs)]))}`,
      );
    });
};
