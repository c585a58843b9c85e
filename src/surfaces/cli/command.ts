import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { System } from './system.ts';

/** Least time between two looks of the line, in milliseconds. */
const DEFAULTS = {
  everyMs: 100,
  /** Milliseconds between two questions how far it is. */
  askEveryMs: 100,
};

/** The terminal, so that commands never touch the process itself. */
export interface Terminal {
  /** Results: what a pipe reads. */
  out(text: string): void;
  /** Resolves when what was put out has gone, so that long results do not pile up here. */
  drained(): Promise<void>;
  /** Everything said beside the result. */
  err(text: string): void;
  readonly isTty: boolean;
  /** What comes in on stdin, piece by piece. */
  input(): AsyncIterable<string>;
  /** What a person answers to a yes-or-no question; null when there is nobody to ask. */
  confirm(question: string): Promise<boolean | null>;
  /** Resolves when the person or the system asks the command to end. */
  untilStopped(): Promise<void>;
}

export interface CommandContext {
  readonly system: System;
  readonly terminal: Terminal;
  /** Exit code of the command, where it ends without an error but not well. */
  fail(): void;
}

/** One command: adds itself to the program. */
export type CommandModule = (program: Command, context: CommandContext) => void;

/** Rows in columns, as wide as they need to be; the last one is left as it is. */
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

/** One line that is written over and over, for a person who waits; a pipe gets nothing of it. */
interface Progress {
  show(text: string): void;
  /** Takes the line away, so that what is said next stands alone. */
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

/** Shows a person how far work is until it ends. It may be another process's, so that process is asked. */
export async function withProgress<T>(
  terminal: Terminal,
  work: Promise<T>,
  /** Null where there is nothing to show yet. */
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
