import type { CommandModule } from '../command.ts';
import type { GlobalOptions } from '../system.ts';

interface LoginOptions extends GlobalOptions {
  readonly key?: string;
}

export const loginCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('login')
    .description('print a fresh one-time link that opens the dashboard in a browser')
    .option('--key <name>', 'for somebody else: with the role and the runs of this key')
    .addHelpText('after', '\nExample:\n  $ pml login\n  $ pml login --key ada')
    .action(async ({ key, ...options }: LoginOptions) => {
      const url = await system.loginLink(options, key);
      terminal.out(options.json ? `${JSON.stringify({ login_url: url })}\n` : `${url}\n`);
    });
};
