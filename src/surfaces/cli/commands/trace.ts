import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { traceSummaryToWire, traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { type ImportReport, importTraces, type NumberedLine } from '../../../engine/traces/import-traces.ts';
import { readTrace, selectTraces } from '../../../engine/traces/select-traces.ts';
import { episodeToWire } from '../../../operations/shapes/trace.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { countOf, createProgress } from '../command.ts';
import { describeTrace, traceLine } from '../describe-trace.ts';
import { parseCount, parseDate } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { openTarget, refuseExisting, withStore } from '../with-gateway.ts';
import { addTraceForgetCommand } from './trace-forget.ts';

const DEFAULTS = {
  /** Longest line, in UTF-16 units. */
  line: 64 * 1024 * 1024,
};

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
        else if (traces.length === 0) terminal.out('No traces yet.\n');
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
        const episodes = await store.episodes.list(trace.runId);
        terminal.out(
          options.json
            ? `${JSON.stringify({ ...traceToWire(trace), episodes: episodes.map(episodeToWire) })}\n`
            : describeTrace(trace, tree, nameOf, episodes),
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

/** A byte order mark, as some editors put before the first character. */
const MARK = '\ufeff';

const IMPORT_EXAMPLES = `
Example:
  $ pml trace import runs.jsonl
  $ gunzip -c runs.jsonl.gz | pml trace import -`;

/** `pml trace import`: lines of anybody's making, each judged by itself. */
function addTraceImportCommand(trace: Command, context: CommandContext): void {
  const { terminal, system } = context;
  trace
    .command('import')
    .argument('<file>', 'file written by "pml trace export"; - is stdin')
    .description('import traces from JSON lines; existing traces are not changed')
    .addHelpText('after', IMPORT_EXAMPLES)
    .action(async (file: string, options: GlobalOptions) => {
      const { secrets } = await system.loadSettings(options);
      const pieces = file === '-' ? terminal.input() : await readPieces(file);
      const progress = createProgress(terminal);
      const report = await withStore(context, options, 'trace', (store) =>
        importTraces({ store, secrets }, linesOf(pieces, DEFAULTS.line), (sofar) =>
          progress.show(summaryOf(sofar)),
        ).finally(progress.done),
      );
      if (report.refused > 0) context.fail();
      if (options.json) {
        terminal.out(`${JSON.stringify(report)}\n`);
        return;
      }
      for (const { line, reason } of report.refusals) terminal.err(`line ${line}: ${printable(reason)}\n`);
      const untold = report.refused - report.refusals.length;
      if (untold > 0) terminal.err(`and ${countOf(untold, 'more line')}\n`);
      terminal.out(`${summaryOf(report)}.\n`);
    });
}

function summaryOf({ imported, skipped, refused }: ImportReport): string {
  return [
    `Imported ${countOf(imported, 'trace')}`,
    ...(skipped > 0 ? [`skipped ${skipped.toLocaleString('en-US')} already there`] : []),
    ...(refused > 0 ? [`refused ${countOf(refused, 'line')}`] : []),
  ].join(', ');
}

/** Opened before anything else, so that a wrong name is told at once. */
async function readPieces(file: string): Promise<AsyncIterable<string>> {
  const stream = createReadStream(file, 'utf8');
  return await new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream));
    stream.once('error', (cause) =>
      reject(
        new PmlError('not_found', `Cannot read ${file}: ${cause.message}`, {
          hint: 'Name a file written by "pml trace export", or - to read it from stdin.',
          cause,
        }),
      ),
    );
  });
}

/** Splits text that comes in pieces; what is longer than `maxLength` is counted but not kept. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  maxLength: number,
): AsyncGenerator<NumberedLine> {
  let number = 1;
  let line = '';
  let isTooLong = false;
  const take = (text: string) => {
    isTooLong ||= line.length + text.length > maxLength;
    line = isTooLong ? '' : line + text;
  };
  const finished = (): NumberedLine => {
    const text = isTooLong ? null : number === 1 && line.startsWith(MARK) ? line.slice(MARK.length) : line;
    const numbered = { number, text };
    number++;
    line = '';
    isTooLong = false;
    return numbered;
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let to = piece.indexOf('\n'); to !== -1; to = piece.indexOf('\n', from)) {
      take(piece.slice(from, to));
      yield finished();
      from = to + 1;
    }
    take(piece.slice(from));
  }
  if (line !== '' || isTooLong) yield finished();
}
