import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { known } from '../with-gateway.ts';

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
      const link = await withServing(options, (pml) => pml.createLoginLink(key === undefined ? {} : { key }));
      terminal.out(options.json ? `${JSON.stringify(link)}\n` : `${link.login_url}\n`);
    });

  login
    .command('ls')
    .description('list the browsers that are logged in')
    .addHelpText('after', '\nExample:\n  $ pml login ls')
    .action(async (options: GlobalOptions) => {
      const found = await withServing(options, (pml) => pml.listLogins());
      const { logins } = found;
      if (options.json) terminal.out(`${JSON.stringify(found)}\n`);
      else if (logins.length === 0) terminal.out('No browser is logged in.\n');
      else terminal.out(columns([['id', 'as', 'since', 'until', 'browser'], ...logins.map(row)]));
    });

  login
    .command('revoke')
    .argument('<id>', 'id of the login')
    .description('end the login of one browser')
    .addHelpText('after', '\nExample:\n  $ pml login revoke 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action(async (id: string, options: GlobalOptions) => {
      const ended = await withServing(options, (pml) =>
        known(pml.revokeLogin({ login_id: id }), 'See "pml login ls".'),
      );
      terminal.out(options.json ? `${JSON.stringify(ended)}\n` : `Ended login ${id}.\n`);
    });

  /** Browsers log in to a serving gateway only. */
  async function withServing<T>(
    options: GlobalOptions,
    work: (pml: OperationClient) => Promise<T>,
  ): Promise<T> {
    const { pml, close } = await system.openServing(options);
    try {
      return await work(pml);
    } finally {
      await close();
    }
  }
};

function row({ id, key_id, made_at, expires_at, about }: Answer<'list_logins'>['logins'][number]): string[] {
  return [id, key_id ?? 'owner', made_at.slice(0, 16), expires_at.slice(0, 10), printable(about)];
}
