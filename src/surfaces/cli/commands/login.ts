import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import type { BrowserLogin, GlobalOptions } from '../system.ts';

interface LoginOptions extends GlobalOptions {
  readonly key?: string;
}

export const loginCommand: CommandModule = (program, { system, terminal }) => {
  const login = program
    .command('login')
    .description('create login links for browsers, list logins and end them')
    .addHelpText('after', '\nExample:\n  $ pml login');

  login
    .command('link', { isDefault: true })
    .description('print a one-time link that opens the dashboard in a browser')
    .option('--key <name>', 'create the link for another user, with the role of this key')
    .addHelpText('after', '\nExample:\n  $ pml login\n  $ pml login --key ada')
    .action(async ({ key, ...options }: LoginOptions) => {
      const url = await system.loginLink(options, key);
      terminal.out(options.json ? `${JSON.stringify({ login_url: url })}\n` : `${url}\n`);
    });

  login
    .command('ls')
    .description('list the browsers that are logged in')
    .addHelpText('after', '\nExample:\n  $ pml login ls')
    .action(async (options: GlobalOptions) => {
      const logins = await system.logins(options);
      if (options.json) terminal.out(`${JSON.stringify({ logins })}\n`);
      else if (logins.length === 0) terminal.out('No browser is logged in.\n');
      else terminal.out(columns([['id', 'as', 'since', 'until', 'browser'], ...logins.map(row)]));
    });

  login
    .command('revoke')
    .argument('<id>', 'id of the login')
    .description('end the login of one browser')
    .addHelpText('after', '\nExample:\n  $ pml login revoke 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action(async (id: string, options: GlobalOptions) => {
      if (!(await system.revokeLogin(options, id))) {
        throw new PmlError('not_found', `Login ${id} not found`, { hint: 'See "pml login ls".' });
      }
      terminal.out(options.json ? `${JSON.stringify({ id })}\n` : `Login ${id} is ended.\n`);
    });
};

function row({ id, key_id, made_at, expires_at, about }: BrowserLogin): string[] {
  return [id, key_id ?? 'owner', made_at.slice(0, 16), expires_at.slice(0, 10), printable(about)];
}
