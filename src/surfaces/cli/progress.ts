import { setTimeout } from 'node:timers/promises';
import type { Terminal } from './command.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Least time between two looks of the line, in milliseconds. */
const DEFAULTS = {
  everyMs: 100,
  /** Milliseconds between two questions how far it is. */
  askEveryMs: 100,
};

/** One line that is written over and over, for a person who waits; a pipe gets nothing of it. */
export interface Progress {
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
