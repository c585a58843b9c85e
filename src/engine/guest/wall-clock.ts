import type { WallHold } from '../ports/sandbox.ts';

export interface WallClock {
  /** Stops the clock until every hold is let go; letting go twice does nothing. */
  readonly hold: WallHold;
  stop(): void;
}

/** Calls back once `wallMs` have passed, not counting the time it was held. */
export function startWallClock(wallMs: number, onEnd: () => void): WallClock {
  let left = wallMs;
  let holds = 0;
  let since = performance.now();
  let timer = setTimeout(onEnd, left);
  return {
    hold() {
      if (holds++ === 0) {
        left -= performance.now() - since;
        clearTimeout(timer);
      }
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        if (--holds > 0) return;
        since = performance.now();
        timer = setTimeout(onEnd, Math.max(left, 0));
      };
    },
    stop() {
      // A hold that is let go later must not start it again.
      holds = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}
