import type { CommandModule } from '../command.ts';
import type { GlobalOptions } from '../system.ts';

export const loginCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('login')
    .description('print a fresh one-time link that opens the dashboard in a browser')
    .addHelpText('after', '\nExample:\n  $ pml login')
    .action(async (options: GlobalOptions) => {
      const url = await system.loginLink(options);
      terminal.out(options.json ? `${JSON.stringify({ login_url: url })}\n` : `${url}\n`);
    });
};
