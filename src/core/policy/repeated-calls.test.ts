import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofSeed } from '../../../test/proof-count.ts';
import { type AnsweredCall, LOOP_GAP_MS, loopOf, withAnswered } from './repeated-calls.ts';

const MOST = 4;

/** `a1` is call `a` answered `1`; one second apart. */
function past(steps: string, gapMs = 1_000): AnsweredCall[] {
  return steps.split(' ').map((step, i) => ({ call: step[0]!, answer: step.slice(1), at: i * gapMs }));
}

function next(steps: readonly AnsweredCall[], call: string, afterMs = 1_000) {
  return loopOf(steps, { call, at: (steps.at(-1)?.at ?? 0) + afterMs }, MOST);
}

test('[SCOPE-6] the same call with the same answer is a loop after the limit, and not before', () => {
  expect(next(past('a1 a1 a1'), 'a')).toBeNull();
  expect(next(past('a1 a1 a1 a1'), 'a')).toEqual({ period: 1, rounds: 4, isSameAnswer: true });
  expect(next(past('a1 a1 a1 a1'), 'b')).toBeNull();
  expect(next(past('a1 a1 b1 a1 a1'), 'a')).toBeNull();
  expect(next([], 'a')).toBeNull();
});

test('[SCOPE-6] so is a cycle of two, three or four calls, wherever it is entered', () => {
  expect(next(past('a1 b1 a1 b1 a1 b1'), 'a')).toBeNull();
  expect(next(past('a1 b1 a1 b1 a1 b1 a1 b1'), 'a')).toMatchObject({ period: 2, rounds: 4 });
  expect(next(past('x9 b1 a1 b1 a1 b1 a1 b1 a1'), 'b')).toMatchObject({ period: 2, rounds: 4 });
  const three = 'a1 b1 c1 '.repeat(4).trim();
  expect(next(past(three), 'a')).toMatchObject({ period: 3, rounds: 4 });
  expect(next(past('a1 b1 c1 d1 '.repeat(4).trim()), 'a')).toMatchObject({ period: 4, rounds: 4 });
  expect(next(past(three), 'd')).toBeNull();
});

test('[SCOPE-6] polling continues: new answers, or time between the calls', () => {
  const counting = Array.from({ length: 40 }, (_, i) => `a${i}`).join(' ');
  expect(next(past(counting), 'a')).toBeNull();
  const slow = past('a1 a1 a1 a1 a1 a1 a1 a1', LOOP_GAP_MS + 1);
  expect(next(slow, 'a', 1)).toBeNull();
  expect(next(past('a1 a1 a1 a1'), 'a', LOOP_GAP_MS + 1)).toBeNull();
  // A round in which one answer is new is progress.
  expect(next(past('a1 b1 a1 b2 a1 b3 a1 b4 a1 b5'), 'a')).toBeNull();
});

test('[SCOPE-6] a call whose answers always differ is stopped too, much later', () => {
  let steps: readonly AnsweredCall[] = [];
  let made = 0;
  while (!loopOf(steps, { call: 'a', at: made }, MOST) && made < 1_000)
    steps = withAnswered(steps, { call: 'a', answer: String(made), at: made++ });
  expect(made).toBe(16 * MOST);
  expect(loopOf(steps, { call: 'a', at: made }, MOST)).toMatchObject({ isSameAnswer: false });
});

test('[SCOPE-6] calls without a repetition are never a loop', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 60 }), fc.string(), (calls, call) => {
      const steps = calls.map((one, at) => ({ call: one, answer: 'x', at }));
      expect(loopOf(steps, { call, at: calls.length }, 2)).toBeNull();
    }),
    { seed: proofSeed() },
  );
});
