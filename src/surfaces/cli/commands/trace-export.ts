import { open, rename, rm, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { selectTraces } from '../../../engine/select-traces.ts';
import type { CommandContext, Terminal } from '../command.ts';
import { countOf } from '../count-of.ts';
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

/** Only for the owner: traces hold what tools were given and gave. */
const PRIVATE = 0o600;

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
      if (file !== '-' && !force) await refuseExisting(file);
      const selection = {
        ...(limit !== undefined && { limit }),
        ...(session !== undefined && { sessionId: session }),
        ...(since !== undefined && { since }),
      };
      await withStore(context, options, 'trace', async (store) => {
        const target = file === '-' ? toStdout(terminal) : await toFile(file);
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

async function refuseExisting(file: string): Promise<void> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  throw new PmlError('usage', `${file} is already there`, { hint: 'Choose another name, or add --force.' });
}

interface Target {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  /** After `finish` there is nothing to give up. */
  giveUp(): Promise<void>;
}

function toStdout(terminal: Terminal): Target {
  return {
    async write(text) {
      terminal.out(text);
      await terminal.drained();
    },
    async finish() {},
    async giveUp() {},
  };
}

/** Under another name until it is complete: what has the name is whole. */
async function toFile(file: string): Promise<Target> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, 'w', PRIVATE).catch((cause) => {
    throw new PmlError('usage', `Cannot write ${file}: ${(cause as Error).message}`, { cause });
  });
  let isFinished = false;
  return {
    async write(text) {
      await handle.appendFile(text);
    },
    async finish() {
      await handle.close();
      await rename(unfinished, file);
      isFinished = true;
    },
    async giveUp() {
      if (isFinished) return;
      await handle.close().catch(() => {});
      await rm(unfinished, { force: true });
    },
  };
}
