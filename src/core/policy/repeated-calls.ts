const DEFAULTS = {
  /** Calls of a cycle, at the most. */
  longest: 4,
  /** Time between two calls that ends a loop, in milliseconds: a client that polls leaves time between. */
  gapMs: 30_000,
  /** While the answers differ, so many times as many rounds are let pass: something happens, but not for ever. */
  differing: 16,
  /** Calls that are looked back at. */
  steps: 512,
};

/** Milliseconds after which the same call counts as a new attempt. */
export const LOOP_GAP_MS = DEFAULTS.gapMs;

/** A call that was answered. */
export interface AnsweredCall {
  /** The same for the same tool and arguments, and only then. */
  readonly call: string;
  /** The same for the same answer; a failure is an answer, too. */
  readonly answer: string;
  /** Milliseconds; only differences matter. */
  readonly at: number;
}

export interface Loop {
  /** Calls of the cycle. */
  readonly period: number;
  /** How often it was gone through. */
  readonly rounds: number;
  readonly isSameAnswer: boolean;
}

/**
 * The loop that one more call would go on with, if it was gone through `most` times with the same answers. Only what is
 * repeated exactly is a loop: a cycle of calls in which one argument or, up to a point, one answer differs gets on.
 */
export function loopOf(
  past: readonly AnsweredCall[],
  next: Pick<AnsweredCall, 'call' | 'at'>,
  most: number,
): Loop | null {
  const last = past.at(-1);
  if (!last || next.at - last.at > DEFAULTS.gapMs) return null;
  for (let period = 1; period <= DEFAULTS.longest; period++) {
    if (past.at(-period)?.call !== next.call) continue;
    const isRepeated = (i: number) => past[i]!.call === past[i - period]!.call;
    const same = roundsOf(past, period, (i) => isRepeated(i) && past[i]!.answer === past[i - period]!.answer);
    if (same >= most) return { period, rounds: same, isSameAnswer: true };
    const all = roundsOf(past, period, isRepeated);
    if (all >= most * DEFAULTS.differing) return { period, rounds: all, isSameAnswer: false };
  }
  return null;
}

/** Whole rounds at the end of the past, each of which repeats the one before. */
function roundsOf(past: readonly AnsweredCall[], period: number, isRepeated: (i: number) => boolean): number {
  let repeated = 0;
  for (let i = past.length - 1; i >= period && isRepeated(i); i--) {
    if (past[i]!.at - past[i - 1]!.at > DEFAULTS.gapMs) break;
    repeated++;
  }
  return past.length < period ? 0 : Math.floor(repeated / period) + 1;
}

/** As much of the past as a loop is looked for in. */
export function withAnswered(past: readonly AnsweredCall[], made: AnsweredCall): readonly AnsweredCall[] {
  return [...past, made].slice(-DEFAULTS.steps);
}
