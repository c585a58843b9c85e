import { traceSummaryToWire, traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { readTrace } from '../../../engine/traces/read-trace.ts';
import type { CommandModule } from '../command.ts';
import { describeTrace, traceLine } from '../describe-trace.ts';
import { parseCount } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withStore } from '../with-store.ts';
import { addTraceExportCommand } from './trace-export.ts';
import { addTraceForgetCommand } from './trace-forget.ts';
import { addTraceImportCommand } from './trace-import.ts';

interface ListOptions extends GlobalOptions {
  readonly limit: number;
}

export const traceCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const trace = program.command('trace').description('look at what was run, take it along, forget it');

  trace
    .command('ls')
    .description('list traces, newest first')
    .option('--limit <number>', 'how many at the most', parseCount, 20)
    .addHelpText('after', '\nExample:\n  $ pml trace ls --limit 5')
    .action((options: ListOptions) =>
      withStore(context, options, 'trace', async (store) => {
        const traces = await store.traces.list({ limit: options.limit });
        if (options.json) terminal.out(`${JSON.stringify({ traces: traces.map(traceSummaryToWire) })}\n`);
        else if (traces.length === 0) terminal.out('Nothing was run yet.\n');
        else terminal.out(`${traces.map(traceLine).join('\n')}\n`);
      }),
    );

  trace
    .command('show')
    .argument('<id>', 'id of the trace')
    .description('show one run: its calls as a tree, how long they took, what went wrong')
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
