import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { type ImportReport, importTraces, type NumberedLine } from '../../../engine/traces/import-traces.ts';
import type { CommandContext } from '../command.ts';
import { countOf } from '../format.ts';
import { createProgress } from '../progress.ts';
import type { GlobalOptions } from '../system.ts';
import { withStore } from '../with-gateway.ts';

/** A byte order mark, as some editors put before the first character. */
const MARK = '\ufeff';

const DEFAULTS = {
  /** Longest line, in UTF-16 units. */
  line: 64 * 1024 * 1024,
};

const EXAMPLES = `
Example:
  $ pml trace import runs.jsonl
  $ gunzip -c runs.jsonl.gz | pml trace import -`;

/** `pml trace import`: lines of anybody's making, each judged by itself. */
export function addTraceImportCommand(trace: Command, context: CommandContext): void {
  const { terminal, system } = context;
  trace
    .command('import')
    .argument('<file>', 'file written by "pml trace export"; - is stdin')
    .description('import traces from JSON lines; existing traces are not changed')
    .addHelpText('after', EXAMPLES)
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
