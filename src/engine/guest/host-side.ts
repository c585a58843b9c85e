import type { WallHold } from '../ports/sandbox.ts';

interface Call {
  /** A tool call takes a slot until it is answered; a capability call does not, or nesting would lock up. */
  readonly takesSlot: boolean;
  readonly send: () => void;
}

/** Lets calls out in the order they were made, and no more tool calls at once than there are slots. */
export class CallQueue {
  readonly #slots: number;
  #waiting: Call[] = [];
  #inFlight = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  add(call: Call): void {
    this.#waiting.push(call);
    this.#advance();
  }

  freeSlot(): void {
    this.#inFlight--;
    this.#advance();
  }

  #advance(): void {
    let sent = 0;
    for (const { takesSlot, send } of this.#waiting) {
      if (takesSlot && this.#inFlight === this.#slots) break;
      if (takesSlot) this.#inFlight++;
      send();
      sent++;
    }
    if (sent > 0) this.#waiting = this.#waiting.slice(sent);
  }
}

/** Room for what programs print, in bytes of UTF-8, a line break after each line included. */
export interface ConsoleBudget {
  /** What of the text fits, in whole characters; null when nothing does. */
  take(text: string): string | null;
  readonly isFull: boolean;
  readonly isTruncated: boolean;
}

export function createConsoleBudget(bytes: number): ConsoleBudget {
  const encoder = new TextEncoder();
  let left = bytes;
  let isTruncated = false;
  return {
    get isFull() {
      return left <= 0;
    },
    get isTruncated() {
      return isTruncated;
    },
    take(text) {
      const whole = encoder.encode(text);
      const fits = whole.length + 1 <= left;
      isTruncated ||= !fits;
      if (left <= 1 && !fits) return null;
      // A character cut in two is left out: the decoder waits for the rest of it.
      const kept = fits ? text : new TextDecoder().decode(whole.subarray(0, left - 1), { stream: true });
      left = fits ? left - whole.length - 1 : 0;
      return kept;
    },
  };
}

interface WallClock {
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
