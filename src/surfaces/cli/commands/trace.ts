import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { capabilityNode, kindOf } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { countOf, createProgress } from '../command.ts';
import { describeTrace, traceLine } from '../describe-trace.ts';
import { parseCount, parseDate } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { known, openTarget, refuseExisting, withGateway } from '../with-gateway.ts';
import { addTraceForgetCommand } from './trace-forget.ts';

const DEFAULTS = {
  /** Longest line, in UTF-16 units. */
  line: 64 * 1024 * 1024,
  /** Traces that are listed at once, and those that are exported. */
  listed: 500,
  exported: 25,
  /** Lines that are imported at once, at most, and their characters. */
  lines: 100,
  text: 4 * 1024 * 1024,
  /** Refused lines that are told; counts stay exact beyond it. */
  refusals: 100,
};

type ImportReport = Answer<'import_traces'>;
type NumberedLine = Parameters<OperationClient['importTraces']>[0]['lines'][number];

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
      withGateway(context, options, 'trace', async (pml) => {
        const traces = await newest(pml, options.limit);
        if (options.json) terminal.out(`${JSON.stringify({ traces })}\n`);
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
      withGateway(context, options, 'trace', async (pml) => {
        const found = await known(pml.getTrace({ trace_id: id }), 'See "pml trace ls".');
        if (options.json) terminal.out(`${JSON.stringify(found)}\n`);
        else terminal.out(describeTrace(found, await namesIn(pml, found)));
      }),
    );

  addTraceExportCommand(trace, context);
  addTraceImportCommand(trace, context);
  addTraceForgetCommand(trace, context);
};

type ListedTrace = Answer<'list_traces'>['traces'][number];

/** As many as are wanted, page by page. */
async function newest(pml: OperationClient, limit: number): Promise<readonly ListedTrace[]> {
  const traces: ListedTrace[] = [];
  let before: string | null | undefined;
  while (before !== null && traces.length < limit) {
    const asked = { limit: Math.min(limit - traces.length, DEFAULTS.listed) };
    const page = await pml.listTraces(before === undefined ? asked : { ...asked, before });
    traces.push(...page.traces);
    before = page.next;
  }
  return traces;
}

/** What people call a node: a capability's slug, else its id. */
async function namesIn(
  pml: OperationClient,
  { executed_path: path }: Answer<'get_trace'>,
): Promise<(node: string) => string> {
  if (!path.some((node) => kindOf(node) === 'capability')) return (node) => node;
  const { capabilities } = await pml.listCapabilities();
  const names = new Map(
    capabilities.map(({ id, slug }) => [capabilityNode(id) as string, `capabilities.${slug}`]),
  );
  return (node) => names.get(node) ?? node;
}

/** `pml trace export`: one JSON object per line, oldest first; streams, so memory stays bounded. */
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
        ...(session !== undefined && { session_id: session }),
        ...(since !== undefined && { since: since.toISOString() }),
      };
      await withGateway(context, options, 'trace', async (pml) => {
        const target = await openTarget(terminal, file);
        // A progress line would mix with the result on a terminal.
        const progress = createProgress(file === '-' ? { ...terminal, isTty: false } : terminal);
        let count = 0;
        try {
          for await (const trace of exported(pml, selection, limit)) {
            await target.write(`${JSON.stringify(trace)}\n`);
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

interface Selection {
  readonly session_id?: string;
  readonly since?: string;
}

/** Oldest first, a page at a time. */
async function* exported(pml: OperationClient, selection: Selection, limit: number | undefined) {
  if (limit !== undefined) {
    const { ids } = await pml.findTraces({ ...selection, limit });
    for (let from = 0; from < ids.length; from += DEFAULTS.exported)
      yield* (await pml.exportTraces({ ids: ids.slice(from, from + DEFAULTS.exported) })).traces;
    return;
  }
  for (let after: number | null = 0; after !== null; ) {
    const page: Answer<'export_traces'> = await pml.exportTraces({ ...selection, after });
    yield* page.traces;
    after = page.next;
  }
}

/** A byte order mark, which some editors put at the start of a file. */
const MARK = '\ufeff';

const IMPORT_EXAMPLES = `
Example:
  $ pml trace import runs.jsonl
  $ gunzip -c runs.jsonl.gz | pml trace import -`;

/** `pml trace import`: untrusted lines, each validated separately. */
function addTraceImportCommand(trace: Command, context: CommandContext): void {
  const { terminal } = context;
  trace
    .command('import')
    .argument('<file>', 'file written by "pml trace export"; - is stdin')
    .description('import traces from JSON lines; existing traces are not changed')
    .addHelpText('after', IMPORT_EXAMPLES)
    .action(async (file: string, options: GlobalOptions) => {
      const pieces = file === '-' ? terminal.input() : await readPieces(file);
      const progress = createProgress(terminal);
      const report = await withGateway(context, options, 'trace', (pml) =>
        imported(pml, linesOf(pieces, DEFAULTS.line), (sofar) => progress.show(summaryOf(sofar))).finally(
          progress.done,
        ),
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

/** Some lines at a time, however many there are. */
async function imported(
  pml: OperationClient,
  lines: AsyncIterable<NumberedLine>,
  onProgress: (report: ImportReport) => void,
): Promise<ImportReport> {
  let report: ImportReport = { imported: 0, skipped: 0, refused: 0, refusals: [] };
  let batch: NumberedLine[] = [];
  let text = 0;
  const flush = async () => {
    const more = await pml.importTraces({ lines: batch });
    report = {
      imported: report.imported + more.imported,
      skipped: report.skipped + more.skipped,
      refused: report.refused + more.refused,
      refusals: [...report.refusals, ...more.refusals].slice(0, DEFAULTS.refusals),
    };
    batch = [];
    text = 0;
    onProgress(report);
  };
  for await (const line of lines) {
    batch.push(line);
    text += line.text?.length ?? 0;
    if (batch.length >= DEFAULTS.lines || text >= DEFAULTS.text) await flush();
  }
  await flush();
  return report;
}

function summaryOf({ imported: taken, skipped, refused }: ImportReport): string {
  return [
    `Imported ${countOf(taken, 'trace')}`,
    ...(skipped > 0 ? [`skipped ${skipped.toLocaleString('en-US')} already present`] : []),
    ...(refused > 0 ? [`refused ${countOf(refused, 'line')}`] : []),
  ].join(', ');
}

/** Opened first, so that a wrong name is reported at once. */
async function readPieces(file: string): Promise<AsyncIterable<string>> {
  const stream = createReadStream(file, 'utf8');
  return await new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream));
    stream.once('error', (cause) =>
      reject(
        new PmlError('not_found', `Cannot read ${file}: ${cause.message}`, {
          hint: 'Give a file written by "pml trace export", or - to read from stdin.',
          cause,
        }),
      ),
    );
  });
}

/** Splits chunked text into lines; of a line longer than `maxLength`, only the length is kept. */
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
