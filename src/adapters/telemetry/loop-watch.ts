import type { LoopFigures, LoopStall, LoopWatch } from '../../engine/ports/process.ts';
import type { Clock, Logger } from '../../engine/ports.ts';

const DEFAULTS = {
  /** How often it is looked whether time went by, and from which delay on that is told, in milliseconds. */
  everyMs: 50,
  stallMs: 250,
  /** What began last is kept, so many of them and so many characters of each. */
  begun: 5,
  characters: 120,
};

/**
 * A timer that comes late says that nothing else came in time either: while one thing ran, nobody was answered. Without a
 * logger it is counted alone: a command for one person has nobody else to answer.
 */
export function createLoopWatch(clock: Clock, logger: Logger | null): LoopWatch & { close(): void } {
  const begun: string[] = [];
  let stalls = 0;
  let stalledMs = 0;
  let longestMs = 0;
  let last: LoopStall | null = null;
  let before = clock.monotonic();
  const look = () => {
    const now = clock.monotonic();
    const ms = Math.round(now - before - DEFAULTS.everyMs);
    before = now;
    if (ms < DEFAULTS.stallMs) return;
    stalls += 1;
    stalledMs += ms;
    longestMs = Math.max(longestMs, ms);
    last = { at: clock.now().toISOString(), ms, during: [...begun] };
    logger?.log('warn', `The event loop was blocked for ${ms} ms`, { ms, during: last.during });
  };
  const timer = setInterval(look, DEFAULTS.everyMs);
  timer.unref();
  return {
    begin(what) {
      begun.unshift(what.slice(0, DEFAULTS.characters));
      if (begun.length > DEFAULTS.begun) begun.pop();
    },
    figures: (): LoopFigures => ({ stalls, stalledMs, longestMs, last }),
    close: () => clearInterval(timer),
  };
}
