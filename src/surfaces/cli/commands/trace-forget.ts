import type { Command } from 'commander';
import type { ExecutionTrace } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { RemovedTraces, Store } from '../../../engine/ports.ts';
import { selectTraces, type TraceSelection } from '../../../engine/traces/select-traces.ts';
import type { CommandContext, Terminal } from '../command.ts';
import { countOf } from '../command.ts';
import { traceLine } from '../describe-trace.ts';
import { confirmed, parseDate } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withStore } from '../with-gateway.ts';

const DEFAULTS = {
  /** Traces shown before the question. */
  shown: 5,
  /** Forgotten at once. */
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

/** `pml trace forget`: shows what would go, asks, and says how many went. */
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
      await withStore(context, options, 'trace', async (store) => {
        const chosen = selection === null ? await byIds(store, ids) : await bySelection(store, selection);
        if (chosen.ids.length > 0) {
          terminal.err(`${chosen.shown.map(traceLine).join('\n')}\n`);
          const more = chosen.ids.length - chosen.shown.length;
          if (more > 0) terminal.err(`and ${countOf(more, 'other')}\n`);
          const question = `Delete ${countOf(chosen.ids.length, 'trace')}?`;
          if (!(await confirmed(terminal, question, options))) {
            terminal.err('Nothing was deleted.\n');
            return;
          }
        }
        const removed = await forget(store, chosen);
        if (options.json) {
          const { traces: forgotten, unfinishedRuns: unfinished_runs } = removed;
          terminal.out(`${JSON.stringify({ forgotten, unfinished_runs })}\n`);
          return;
        }
        if (chosen.ids.length === 0) terminal.out('No trace matches: nothing was deleted.\n');
        else terminal.out(`Deleted ${countOf(removed.traces, 'trace')}.\n`);
        tellRest(terminal, removed);
      });
    });
}

/** Null: the ids say it all. */
function selectionOf(ids: readonly string[], { session, before, tool, all }: Options): TraceSelection | null {
  const isNarrowed = session !== undefined || before !== undefined || tool !== undefined;
  const ways = [ids.length > 0, isNarrowed, all === true].filter(Boolean).length;
  if (ways !== 1) {
    throw new PmlError(
      'usage',
      ways === 0 ? 'Which traces should be deleted?' : 'Select the traces in one way only',
      {
        hint: 'Name ids, or filter with --session, --before and --tool, or use --all.',
      },
    );
  }
  if (ids.length > 0) return null;
  return {
    ...(session !== undefined && { sessionId: session }),
    ...(before !== undefined && { before }),
    ...(tool !== undefined && { tool }),
  };
}

interface Chosen {
  readonly ids: readonly string[];
  /** One by one: then they go even if their runs wait for somebody. */
  readonly areNamed: boolean;
  readonly shown: readonly ExecutionTrace[];
}

/** One that is not there is most likely mistyped, so nothing goes. */
async function byIds({ traces }: Store, ids: readonly string[]): Promise<Chosen> {
  const shown: ExecutionTrace[] = [];
  for (const id of new Set(ids)) {
    const trace = await traces.get(id);
    if (!trace) {
      throw new PmlError('not_found', `Trace ${id} not found; nothing was deleted`, {
        hint: 'See "pml trace ls".',
      });
    }
    shown.push(trace);
  }
  return { ids: shown.map(({ id }) => id), areNamed: true, shown: shown.slice(0, DEFAULTS.shown) };
}

async function bySelection(store: Store, selection: TraceSelection): Promise<Chosen> {
  const ids: string[] = [];
  const shown: ExecutionTrace[] = [];
  for await (const trace of selectTraces(store, selection)) {
    ids.push(trace.id);
    if (shown.length < DEFAULTS.shown) shown.push(trace);
  }
  return { ids, areNamed: false, shown };
}

async function forget({ traces }: Store, { ids, areNamed }: Chosen): Promise<RemovedTraces> {
  let forgotten = 0;
  const spared = new Set<string>();
  for (let from = 0; from < ids.length; from += DEFAULTS.batch) {
    const removed = await traces.remove(ids.slice(from, from + DEFAULTS.batch), { unfinishedRuns: areNamed });
    forgotten += removed.traces;
    for (const id of removed.unfinishedRuns) spared.add(id);
  }
  return { traces: forgotten, unfinishedRuns: [...spared] };
}

/** What stays, and how it goes. */
function tellRest(terminal: Terminal, { traces, unfinishedRuns }: RemovedTraces): void {
  for (const id of unfinishedRuns) {
    terminal.err(
      `Run ${id} is unfinished, so it was kept: abort it with "pml runs abort ${id}", or name its trace.\n`,
    );
  }
  if (traces > 0) terminal.err('To remove it from the graph as well, run "pml graph rebuild".\n');
}
