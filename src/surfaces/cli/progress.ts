import type { Terminal } from './command.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Least time between two looks of the line, in milliseconds. */
const DEFAULTS = { everyMs: 100 };

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
