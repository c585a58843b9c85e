import type { LoopFigures, LoopStall, LoopWatch } from '../../engine/ports/process.ts';
import type { Clock, Logger } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Interval of the timer, and the delay from which a stall is reported, in milliseconds. */
  everyMs: 50,
  stallMs: 250,
  /** How many recently started operations are kept, and how many characters of each. */
  begun: 5,
  characters: 120,
};

/**
 * Detects event loop stalls by a timer that fires late. Without a logger stalls are only counted: a
 * one-person command has nobody else waiting.
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
