import type { Command } from 'commander';
import { printable } from '../../../core/vocabulary/text.ts';
import type { CommandContext } from '../command.ts';
import type { Capability } from '../describe-capability.ts';
import { confirmed } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface QuarantineOptions extends GlobalOptions {
  readonly reason: string;
  readonly lift?: boolean;
}

interface KeepPrivateOptions extends GlobalOptions {
  readonly user?: string;
}

interface ForgetOptions extends GlobalOptions {
  readonly yes?: boolean;
}

/** Names of capabilities, and who may call them. */
export function addCapabilityChangeCommands(capability: Command, context: CommandContext): void {
  const { terminal } = context;

  capability
    .command('rename')
    .argument('<slug>', 'slug of the capability')
    .argument('<to>', 'new name of the capability')
    .description('rename a capability; the old name keeps working')
    .addHelpText('after', '\nExample:\n  $ pml capability rename count_lines lines_of')
    .action((slug: string, to: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const renamed = await pml.renameCapability({ slug, to });
        tell(renamed, `${slug} is now called ${renamed.slug}; the name ${slug} keeps working.`, options);
      }),
    );

  capability
    .command('share')
    .argument('<slug>', 'slug of the capability')
    .description('share a private capability, so that everybody can see and call it')
    .addHelpText('after', '\nExample:\n  $ pml capability share count_lines')
    .action((slug: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.shareCapability({ slug });
        tell(changed, `Everybody can now see and call ${changed.slug}.`, options);
      }),
    );

  capability
    .command('keep-private')
    .argument('<slug>', 'slug of the capability')
    .description('make a capability visible only to its owner and to operators')
    .option('--user <name>', 'the owner (default: the user whose run it was first learned from)')
    .addHelpText('after', '\nExample:\n  $ pml capability keep-private count_lines --user ada')
    .action((slug: string, { user, ...options }: KeepPrivateOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.keepCapabilityPrivate({ slug, ...(user !== undefined && { user }) });
        tell(changed, `${changed.slug} is now private to ${changed.owner}.`, options);
      }),
    );

  capability
    .command('quarantine')
    .argument('<slug>', 'slug of the capability')
    .description('prevent a capability from being called or suggested')
    .option('--reason <text>', 'reason to record', 'by a person')
    .option('--lift', 'allow calls again')
    .addHelpText(
      'after',
      '\nExample:\n  $ pml capability quarantine count_lines --reason "counts twice"\n  $ pml capability quarantine count_lines --lift',
    )
    .action((slug: string, { reason, lift, ...options }: QuarantineOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const changed = await pml.quarantineCapability({ slug, reason, lift: lift ?? false });
        tell(changed, `${changed.slug} ${lift ? 'can be called again' : 'is quarantined'}.`, options);
      }),
    );

  capability
    .command('forget')
    .argument('<slug>', 'slug of the capability')
    .description('delete a capability; the runs it was learned from are kept')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', '\nExample:\n  $ pml capability forget count_lines')
    .action((slug: string, options: ForgetOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.getCapability({ slug });
        // On stderr, so that a pipe only gets the result.
        terminal.err(`${found.slug}: ${printable(found.description)}\n`);
        if (!(await confirmed(terminal, `Delete ${found.slug}?`, options))) {
          terminal.err('Nothing was deleted.\n');
          return;
        }
        const answer = await pml.forgetCapability({ slug: found.slug });
        const { forgotten } = answer;
        if (options.json) terminal.out(`${JSON.stringify(answer)}\n`);
        else terminal.out(forgotten ? `Deleted ${found.slug}.\n` : `${found.slug} was already deleted.\n`);
      }),
    );

  function tell(changed: Capability, sentence: string, options: GlobalOptions): void {
    terminal.out(options.json ? `${JSON.stringify(changed)}\n` : `${sentence}\n`);
  }
}
