import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import { type CommandContext, countOf, type Terminal } from '../command.ts';
import { traceLine } from '../describe-trace.ts';
import { confirmed, parseDate } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

const DEFAULTS = {
  /** Traces deleted per request. */
  batch: 500,
};

interface Options extends GlobalOptions {
  readonly session?: string;
  readonly before?: Date;
  readonly tool?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

const EXAMPLES = `
Example:
  $ pml trace forget 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11
  $ pml trace forget --tool "mail:*" --before 2026-10-01
  $ pml trace forget --all --yes`;

/** `pml trace forget`: shows what would be deleted, asks, and reports how many were. */
export function addTraceForgetCommand(trace: Command, context: CommandContext): void {
  const { terminal } = context;
  trace
    .command('forget')
    .argument('[ids...]', 'ids of traces')
    .description('delete traces and all data of their runs; combined options must all match')
    .option('--session <id>', 'traces of this session')
    .option('--before <date>', 'traces before this date', parseDate)
    .option('--tool <glob>', 'traces that called a matching tool, for example "mail:*"')
    .option('--all', 'all traces')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', EXAMPLES)
    .action(async (ids: string[], options: Options) => {
      const selection = selectionOf(ids, options);
      await withGateway(context, options, 'trace', async (pml) => {
        const chosen = await pml.findTraces(selection ?? { ids: [...new Set(ids)] });
        const missing = ids.find((id) => !chosen.ids.includes(id));
        // An unknown id is probably a typing error, so nothing is deleted.
        if (missing !== undefined) {
          throw new PmlError('not_found', `Trace ${missing} not found; nothing was deleted`, {
            hint: 'See "pml trace ls".',
          });
        }
        if (chosen.ids.length > 0) {
          terminal.err(`${chosen.shown.map(traceLine).join('\n')}\n`);
          const more = chosen.ids.length - chosen.shown.length;
          if (more > 0) terminal.err(`and ${countOf(more, 'other')}\n`);
          const question = `Delete ${countOf(chosen.ids.length, 'trace')}?`;
          if (!(await confirmed(terminal, question, options))) return terminal.err('Nothing was deleted.\n');
        }
        // Named individually, so they are deleted even if their runs wait for approval.
        const removed = await forget(pml, chosen.ids, selection === null);
        if (options.json) return terminal.out(`${JSON.stringify(removed)}\n`);
        if (chosen.ids.length === 0) terminal.out('No trace matches: nothing was deleted.\n');
        else terminal.out(`Deleted ${countOf(removed.forgotten, 'trace')}.\n`);
        tellRest(terminal, removed);
      });
    });
}

/** Null when ids were given. */
function selectionOf(ids: readonly string[], { session, before, tool, all }: Options) {
  const isNarrowed = session !== undefined || before !== undefined || tool !== undefined;
  const ways = [ids.length > 0, isNarrowed, all === true].filter(Boolean).length;
  if (ways !== 1) {
    const wrong = ways === 0 ? 'Which traces should be deleted?' : 'Select traces in only one way';
    throw new PmlError('usage', wrong, {
      hint: 'Give ids, or filter with --session, --before and --tool, or use --all.',
    });
  }
  if (ids.length > 0) return null;
  return {
    ...(session !== undefined && { session_id: session }),
    ...(before !== undefined && { before: before.toISOString() }),
    ...(tool !== undefined && { tool }),
  };
}

type Forgotten = Answer<'forget_traces'>;

async function forget(pml: OperationClient, ids: readonly string[], unfinished: boolean): Promise<Forgotten> {
  let forgotten = 0;
  const spared = new Set<string>();
  for (let from = 0; from < ids.length; from += DEFAULTS.batch) {
    const removed = await pml.forgetTraces({ ids: ids.slice(from, from + DEFAULTS.batch), unfinished });
    forgotten += removed.forgotten;
    for (const id of removed.unfinished_runs) spared.add(id);
  }
  return { forgotten, unfinished_runs: [...spared] };
}

/** Reports runs that were not deleted, and how to delete them. */
function tellRest(terminal: Terminal, { forgotten, unfinished_runs }: Forgotten): void {
  for (const id of unfinished_runs) {
    terminal.err(
      `Run ${id} is unfinished, so it was not deleted: abort it with "pml runs abort ${id}", or give the id of its trace.\n`,
    );
  }
  if (forgotten > 0) terminal.err('To remove these traces from the graph too, run "pml graph rebuild".\n');
}
