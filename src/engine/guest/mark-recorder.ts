import type { GuestMark } from '../ports/sandbox.ts';
import type { HooksNative } from './guest-hooks.ts';

const DEFAULTS = {
  marksPerRun: 2_000,
  /** Characters of a decision's outcome. */
  maxTaken: 200,
};

export const MARKS_PER_SITE = 200;

export interface MarkRecorder {
  /** For the program in frame `number`. */
  frame(number: number): HooksNative;
  /** Marks beyond the limits were dropped. */
  readonly isTruncated: boolean;
}

/** Stamps what programs do by themselves, up to a number of marks per site and per run. */
export function createMarkRecorder(
  now: () => number,
  add: (frame: number, mark: GuestMark) => void,
): MarkRecorder {
  let count = 0;
  let isTruncated = false;

  const isFull = () => {
    isTruncated ||= count >= DEFAULTS.marksPerRun;
    return count >= DEFAULTS.marksPerRun;
  };

  return {
    get isTruncated() {
      return isTruncated;
    },
    frame(number) {
      /** Moments at which the operations under way began, outermost first. */
      const begun: number[] = [];
      const told = new Map<number, number>();
      const put = (mark: GuestMark) => {
        const times = (told.get(mark.site) ?? 0) + 1;
        told.set(mark.site, times);
        if (times > MARKS_PER_SITE) isTruncated = true;
        else if (!isFull()) {
          count++;
          add(number, mark);
        }
      };
      return {
        begin(depth) {
          begun.length = Math.min(begun.length, depth);
          begun.push(now());
          return !isFull();
        },
        finish(depth, site, success) {
          const startedAt = begun[depth];
          begun.length = Math.min(begun.length, depth);
          if (startedAt !== undefined) put({ kind: 'operation', site, startedAt, endedAt: now(), success });
        },
        decide(site, taken) {
          put({ kind: 'decision', site, taken: taken.slice(0, DEFAULTS.maxTaken), at: now() });
          return !isFull();
        },
      };
    },
  };
}
