import type { HooksNative } from '../../../engine/ports/guest/guest-hooks.ts';
import { monotonicNow, type WireMark } from '../messages.ts';

const DEFAULTS = {
  marksPerRun: 2_000,
  /** A buffer this full, or this old in milliseconds, is handed on: a killed child takes its buffer along. */
  fullAt: 64,
  staleAfter: 20,
  /** Characters of a decision's outcome. */
  maxTaken: 200,
};

export const MARKS_PER_SITE = 200;

export interface MarkBuffer {
  /** For the program in frame `number`. */
  frame(number: number): HooksNative;
  flush(): void;
  readonly isTruncated: boolean;
}

/** Stamps what programs did by themselves, and keeps it until there is something to send anyway. */
export function createMarkBuffer(send: (marks: readonly WireMark[]) => void): MarkBuffer {
  let buffer: WireMark[] = [];
  let oldest = 0;
  let count = 0;
  let isTruncated = false;

  const flush = () => {
    if (buffer.length === 0) return;
    send(buffer);
    buffer = [];
  };
  const add = (mark: WireMark, now: number): boolean => {
    if (++count > DEFAULTS.marksPerRun) {
      isTruncated = true;
      return false;
    }
    if (buffer.length === 0) oldest = now;
    buffer.push(mark);
    if (buffer.length >= DEFAULTS.fullAt || now - oldest > DEFAULTS.staleAfter) flush();
    return true;
  };

  return {
    flush,
    get isTruncated() {
      return isTruncated;
    },
    frame(number) {
      /** Moments at which the operations under way began, outermost first. */
      const begun: number[] = [];
      const told = new Map<number, number>();
      const mayTell = (site: number) => {
        const times = (told.get(site) ?? 0) + 1;
        told.set(site, times);
        if (times > MARKS_PER_SITE) isTruncated = true;
        return times <= MARKS_PER_SITE;
      };
      return {
        begin(depth) {
          if (count >= DEFAULTS.marksPerRun) {
            isTruncated = true;
            return false;
          }
          begun.length = Math.min(begun.length, depth);
          begun.push(monotonicNow());
          return true;
        },
        finish(depth, text, success) {
          const startedAt = begun[depth];
          begun.length = Math.min(begun.length, depth);
          const sites = text === '' ? [] : text.split(',').map(Number);
          if (startedAt === undefined) return;
          const endedAt = monotonicNow();
          const step = (endedAt - startedAt) / sites.length;
          sites.forEach((site, i) => {
            const mark = [number, site, startedAt + i * step, startedAt + (i + 1) * step, success] as const;
            if (mayTell(site)) add(mark, endedAt);
          });
        },
        decide(site, taken) {
          const now = monotonicNow();
          if (!mayTell(site)) return true;
          return add([number, site, now, taken.slice(0, DEFAULTS.maxTaken)], now);
        },
      };
    },
  };
}
