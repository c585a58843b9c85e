import type { ExecutionTrace } from '../../../core/vocabulary/execution-trace.ts';
import { traceSummaryToWire, traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Store } from '../../../engine/ports.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { parseCount } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';

interface ListOptions extends GlobalOptions {
  readonly limit: number;
}

export const traceCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const trace = program.command('trace').description('look at what was run');

  trace
    .command('ls')
    .description('list traces, newest first')
    .option('--limit <number>', 'how many at the most', parseCount, 20)
    .addHelpText('after', '\nExample:\n  $ pml trace ls --limit 5')
    .action((options: ListOptions) =>
      withStore(context, options, async (store) => {
        const traces = await store.traces.list({ limit: options.limit });
        if (options.json) terminal.out(`${JSON.stringify({ traces: traces.map(traceSummaryToWire) })}\n`);
        else if (traces.length === 0) terminal.out('Nothing was run yet.\n');
        else terminal.out(`${traces.map(row).join('\n')}\n`);
      }),
    );

  trace
    .command('show')
    .argument('<id>', 'id of the trace')
    .description('print one trace with all its events, as JSON')
    .addHelpText('after', '\nExample:\n  $ pml trace show 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withStore(context, options, async (store) => {
        const found = await store.traces.get(id);
        if (!found) {
          throw new PmlError('not_found', `There is no trace ${id}`, { hint: 'See "pml trace ls".' });
        }
        terminal.out(`${JSON.stringify(traceToWire(found), null, options.json ? 0 : 2)}\n`);
      }),
    );
};

async function withStore(
  { system }: CommandContext,
  options: GlobalOptions,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { store, close } = await system.openStore(options, 'trace');
  try {
    await work(store);
  } finally {
    await close();
  }
}

function row(trace: ExecutionTrace): string {
  const mark = trace.success ? '✓' : '✗';
  const calls = `${trace.toolInvocations.length} calls, ${Math.round(trace.durationMs)} ms`;
  return `${mark} ${trace.id}  ${trace.executedAt.toISOString()}  ${calls}  ${trace.intentText ?? ''}`;
}
