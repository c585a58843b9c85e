import { Option } from 'commander';
import { printable } from '../../../core/vocabulary/text.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../engine/ports.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { parseCount } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

type Entry = Answer<'list_audit_entries'>['entries'][number];

const DEFAULTS = {
  /** Entries per request. */
  page: 500,
};

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
      withGateway(context, options, 'audit', async (pml) => {
        const only = { ...(action !== undefined && { action }), ...(subject !== undefined && { subject }) };
        const entries = await newest(pml, limit, only);
        if (options.json) terminal.out(`${JSON.stringify({ entries })}\n`);
        else if (entries.length === 0) terminal.out('The audit log is empty.\n');
        else terminal.out(columns(entries.map(row)));
      }),
    );
};

/** Reads up to `limit` entries, page by page. */
async function newest(
  pml: OperationClient,
  limit: number,
  only: { readonly action?: AuditAction; readonly subject?: string },
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let before: number | null | undefined;
  while (before !== null && entries.length < limit) {
    const asked = { ...only, limit: Math.min(limit - entries.length, DEFAULTS.page) };
    const page = await pml.listAuditEntries(before === undefined ? asked : { ...asked, before });
    entries.push(...page.entries);
    before = page.next;
  }
  return entries;
}

function row({ at, actor, action, subject, hash, details }: Entry): string[] {
  const cells = [at, actor, action, subject, hash?.slice(0, 12) ?? '-', JSON.stringify(details)];
  return cells.map(printable);
}
