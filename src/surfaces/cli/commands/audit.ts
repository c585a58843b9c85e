import { Option } from 'commander';
import { printable } from '../../../core/vocabulary/text.ts';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry } from '../../../engine/ports.ts';
import { auditToWire } from '../../../operations/list-audit-entries.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { parseCount } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface ListOptions extends GlobalOptions {
  readonly limit: number;
  readonly action?: AuditAction;
  readonly subject?: string;
}

export const auditCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const audit = program.command('audit').description('read the audit log: who decided what, and when');

  audit
    .command('ls', { isDefault: true })
    .description('list decisions and policy changes, newest first')
    .option('--limit <number>', 'maximum number of results', parseCount, 50)
    .addOption(new Option('--action <action>', 'only this action').choices(AUDIT_ACTIONS))
    .option('--subject <id>', 'only entries about this run, key, tool or file')
    .addHelpText('after', '\nExample:\n  $ pml audit ls --action approved')
    .action(({ limit, action, subject, ...options }: ListOptions) =>
      withGateway(context, options, 'audit', async (gateway) => {
        const only = { ...(action !== undefined && { action }), ...(subject !== undefined && { subject }) };
        const entries = await gateway.audit({ limit, ...only });
        if (options.json) terminal.out(`${JSON.stringify({ entries: entries.map(auditToWire) })}\n`);
        else if (entries.length === 0) terminal.out('The audit log is empty.\n');
        else terminal.out(columns(entries.map(row)));
      }),
    );
};

function row({ at, actor, action, subject, hash, details }: AuditEntry): string[] {
  const cells = [
    at.toISOString(),
    actor,
    action,
    subject,
    hash?.slice(0, 12) ?? '-',
    JSON.stringify(details),
  ];
  return cells.map(printable);
}
