import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { System } from './system.ts';

/** Least time between two updates of the progress line, in milliseconds. */
const DEFAULTS = {
  everyMs: 100,
  /** Milliseconds between two progress queries. */
  askEveryMs: 100,
};

/** The terminal; commands use it instead of the process itself. */
export interface Terminal {
  /** Writes results, the output a pipe reads. */
  out(text: string): void;
  /** Resolves when all output has been written, so that long results do not accumulate in memory. */
  drained(): Promise<void>;
  /** Writes everything other than results. */
  err(text: string): void;
  readonly isTty: boolean;
  /** Stdin, chunk by chunk. */
  input(): AsyncIterable<string>;
  /** The answer to a yes-or-no question; null if nobody can be asked. */
  confirm(question: string): Promise<boolean | null>;
  /** Resolves when the user or the system asks the command to stop. */
  untilStopped(): Promise<void>;
}

export interface CommandContext {
  readonly system: System;
  readonly terminal: Terminal;
  /** Sets a failing exit code for a command that ends without an error. */
  fail(): void;
}

/** One command: adds itself to the program. */
export type CommandModule = (program: Command, context: CommandContext) => void;

/** Aligned columns; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** `1 trace`, `12,345 traces` */
export function countOf(count: number, thing: string, things = `${thing}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? thing : things}`;
}

const CLEAR_LINE = '\r\u001b[K';

/** A progress line that is overwritten, shown on a terminal only. */
interface Progress {
  show(text: string): void;
  /** Clears the line before other output. */
  done(): void;
}

export function createProgress(terminal: Terminal): Progress {
  if (!terminal.isTty) return { show() {}, done() {} };
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(text) {
      if (performance.now() - shownAt < DEFAULTS.everyMs) return;
      shownAt = performance.now();
      terminal.err(`${CLEAR_LINE}${text}`);
    },
    done: () => terminal.err(CLEAR_LINE),
  };
}

/** Shows progress until the work ends. Polls for it, because the work may run in another process. */
export async function withProgress<T>(
  terminal: Terminal,
  work: Promise<T>,
  /** Null if there is nothing to show yet. */
  howFar: () => Promise<string | null>,
): Promise<T> {
  if (!terminal.isTty) return await work;
  const progress = createProgress(terminal);
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  const show = async () => {
    while (!over.signal.aborted) {
      const line = await howFar();
      if (line !== null && !over.signal.aborted) progress.show(line);
      await setTimeout(DEFAULTS.askEveryMs, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  try {
    const [result] = await Promise.all([ended, show()]);
    return result;
  } finally {
    progress.done();
  }
}
