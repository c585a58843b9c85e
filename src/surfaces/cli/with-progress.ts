import { setTimeout } from 'node:timers/promises';
import type { Terminal } from './command.ts';
import { createProgress } from './progress.ts';

const DEFAULTS = {
  /** Milliseconds between two questions how far it is. */
  askEveryMs: 100,
};

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
