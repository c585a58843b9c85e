import type { Command } from 'commander';
import { traceSummaryToWire, traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { readTrace, selectTraces } from '../../../engine/traces/select-traces.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { describeTrace, traceLine } from '../describe-trace.ts';
import { countOf } from '../format.ts';
import { openTarget, refuseExisting } from '../open-target.ts';
import { parseCount, parseDate } from '../parse-option.ts';
import { createProgress } from '../progress.ts';
import type { GlobalOptions } from '../system.ts';
import { withStore } from '../with-gateway.ts';
import { addTraceForgetCommand } from './trace-forget.ts';
import { addTraceImportCommand } from './trace-import.ts';

interface Options extends GlobalOptions {
  readonly limit?: number;
  readonly session?: string;
  readonly since?: Date;
  readonly force?: boolean;
}

const EXAMPLES = `
Example:
  $ pml trace export runs.jsonl --since 2026-11-01
  $ pml trace export --limit 100 | gzip > runs.jsonl.gz`;

interface ListOptions extends GlobalOptions {
  readonly limit: number;
}

export const traceCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const trace = program.command('trace').description('list, show, export, import and delete traces of runs');

  trace
    .command('ls')
    .description('list traces, newest first')
    .option('--limit <number>', 'maximum number of results', parseCount, 20)
    .addHelpText('after', '\nExample:\n  $ pml trace ls --limit 5')
    .action((options: ListOptions) =>
      withStore(context, options, 'trace', async (store) => {
        const traces = await store.traces.list({ limit: options.limit });
        if (options.json) terminal.out(`${JSON.stringify({ traces: traces.map(traceSummaryToWire) })}\n`);
        else if (traces.length === 0) terminal.out('There are no traces yet.\n');
        else terminal.out(`${traces.map(traceLine).join('\n')}\n`);
      }),
    );

  trace
    .command('show')
    .argument('<id>', 'id of the trace')
    .description('show one run: its calls as a tree, with times and errors')
    .addHelpText('after', '\nExample:\n  $ pml trace show 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withStore(context, options, 'trace', async (store) => {
        const { trace, tree, nameOf } = await readTrace(store, id);
        terminal.out(
          options.json ? `${JSON.stringify(traceToWire(trace))}\n` : describeTrace(trace, tree, nameOf),
        );
      }),
    );

  addTraceExportCommand(trace, context);
  addTraceImportCommand(trace, context);
  addTraceForgetCommand(trace, context);
};

/** `pml trace export`: one JSON object per line, oldest first, never all in memory. */
function addTraceExportCommand(trace: Command, context: CommandContext): void {
  const { terminal } = context;
  trace
    .command('export')
    .argument('[file]', 'file to write; - is stdout', '-')
    .description('export traces as JSON lines, oldest first')
    .option('--limit <number>', 'only the newest traces', parseCount)
    .option('--session <id>', 'only traces of this session')
    .option('--since <date>', 'only traces from this date on', parseDate)
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { limit, session, since, force, ...options }: Options) => {
      if (!force) await refuseExisting(file);
      const selection = {
        ...(limit !== undefined && { limit }),
        ...(session !== undefined && { sessionId: session }),
        ...(since !== undefined && { since }),
      };
      await withStore(context, options, 'trace', async (store) => {
        const target = await openTarget(terminal, file);
        // A progress line would stand between the lines that a terminal shows.
        const progress = createProgress(file === '-' ? { ...terminal, isTty: false } : terminal);
        let count = 0;
        try {
          for await (const trace of selectTraces(store, selection)) {
            await target.write(`${JSON.stringify(traceToWire(trace))}\n`);
            progress.show(`${countOf(++count, 'trace')} exported`);
          }
          await target.finish();
        } finally {
          progress.done();
          await target.giveUp();
        }
        if (file === '-') terminal.err(`Exported ${countOf(count, 'trace')}.\n`);
        else if (options.json) terminal.out(`${JSON.stringify({ file, exported: count })}\n`);
        else terminal.out(`Exported ${countOf(count, 'trace')} to ${file}.\n`);
      });
    });
}
