import type { Command } from 'commander';
import { traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { selectTraces } from '../../../engine/traces/select-traces.ts';
import type { CommandContext } from '../command.ts';
import { countOf } from '../count-of.ts';
import { openTarget, refuseExisting } from '../open-target.ts';
import { parseCount, parseDate } from '../parse-option.ts';
import { createProgress } from '../progress.ts';
import type { GlobalOptions } from '../system.ts';
import { withStore } from '../with-store.ts';

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

/** `pml trace export`: one JSON object per line, oldest first, never all in memory. */
export function addTraceExportCommand(trace: Command, context: CommandContext): void {
  const { terminal } = context;
  trace
    .command('export')
    .argument('[file]', 'file to write; - is stdout', '-')
    .description('write traces as lines of JSON, oldest first')
    .option('--limit <number>', 'only the newest', parseCount)
    .option('--session <id>', 'only those of one session')
    .option('--since <date>', 'only those executed from then on', parseDate)
    .option('--force', 'replace the file if it is there')
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
