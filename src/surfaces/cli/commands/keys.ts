import { Option } from 'commander';
import { KEY_ROLES, type KeyRole } from '../../../core/vocabulary/principal.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface CreateOptions extends GlobalOptions {
  readonly role: KeyRole;
  readonly user?: string;
}

interface ListOptions extends GlobalOptions {
  readonly all?: boolean;
}

export const keysCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const keys = program.command('keys').description('manage the API keys of people and agents');

  keys
    .command('ls', { isDefault: true })
    .description('list the keys in use')
    .option('--all', 'include revoked keys')
    .addHelpText('after', '\nExample:\n  $ pml keys ls')
    .action((options: ListOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const listed = await pml.listKeys({ revoked: options.all ?? false });
        const found = listed.keys;
        if (options.json) terminal.out(`${JSON.stringify(listed)}\n`);
        else if (found.length === 0) terminal.out('No keys yet. Create one with "pml keys create".\n');
        else terminal.out(columns([['name', 'role', 'user', 'made', 'id'], ...found.map(row)]));
      }),
    );

  keys
    .command('create')
    .argument('<name>', 'name of the key in lists and in the audit log')
    .description('create a key; it is shown once and stored as a hash')
    .addOption(new Option('--role <role>', 'role of the key').choices(KEY_ROLES).default('agent'))
    .option('--user <name>', 'user the key belongs to (default: the name of the key)')
    .addHelpText(
      'after',
      '\nExample:\n  $ pml keys create ada-laptop --role agent --user ada\n  $ pml keys create grafana --role viewer',
    )
    .action((name: string, { role, user, ...options }: CreateOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const created = await pml.createKey({ name, role, ...(user !== undefined && { user }) });
        if (options.json) {
          terminal.out(`${JSON.stringify(created)}\n`);
          return;
        }
        // Only the key goes to stdout, so that it can be piped.
        terminal.out(`${created.key}\n`);
        terminal.err(`This is the only time the key is shown. Send it as "Authorization: Bearer KEY".\n`);
      }),
    );

  keys
    .command('revoke')
    .argument('<name>', 'name or id of the key')
    .description('revoke a key immediately')
    .addHelpText('after', '\nExample:\n  $ pml keys revoke ada-laptop')
    .action((name: string, options: GlobalOptions) =>
      withGateway(context, options, 'keys', async (pml) => {
        const key = await pml.revokeKey({ name });
        terminal.out(options.json ? `${JSON.stringify(key)}\n` : `Revoked key ${printable(key.name)}.\n`);
      }),
    );
};

function row({
  name,
  role,
  user,
  created_at,
  revoked_at,
  id,
}: Answer<'list_keys'>['keys'][number]): string[] {
  const made = created_at.slice(0, 10);
  const since = revoked_at === null ? made : `${made}, revoked ${revoked_at.slice(0, 10)}`;
  return [printable(name), role, printable(user), since, id];
}
