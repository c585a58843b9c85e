import { expect, test } from 'vitest';
import { tinyIntent, tinyRun, tinyTools } from '../../../../test/support/tiny-history.ts';
import { rowOf } from '../../numeric/matrices.ts';
import { followStatistics, rememberSequences } from './follow-statistics.ts';

const SIZE = 5;
const candidates = tinyTools(SIZE);
/** 0 is followed by 1 twice and by 2 once; 3 occurs twice in a row. */
const RUNS = [tinyRun(1, [0, 1, 3, 3]), tinyRun(2, [0, 1]), tinyRun(3, [4, 0, 2])];
const history = rememberSequences(candidates, RUNS);
history.past.weigh([1, 1, 1]);

function asked(before: readonly number[], isHidden?: (run: number) => boolean) {
  return followStatistics(SIZE, history, {
    before,
    cosines: history.past.cosines(tinyIntent(1).intent),
    likeness: before.length === 0 ? [] : candidates.cosines(rowOf(candidates.vectors, before.at(-1)!)),
    chances: new Float64Array(SIZE).fill(1 / SIZE),
    ...(isHidden && { isHidden }),
  });
}

test('[NEXT-1] the probability to follow is that of a first-order chain that backs off to popularity and repetition', () => {
  const { follows, after, seen, ended } = asked([0]);
  // (count + general) / (3 + 1); general is 5/6 by popularity, of six steps, and 1/6 by repetition
  expect(follows[1]).toBeCloseTo((2 + (5 / 6) * (2 / 6)) / 4, 12);
  expect(follows[2]).toBeCloseTo((1 + (5 / 6) * (1 / 6)) / 4, 12);
  expect(follows[0]).toBeCloseTo(((5 / 6) * (1 / 6) + 1 / 6) / 4, 12);
  expect([...after]).toEqual([0, 2, 1, 0, 0]);
  expect({ seen, ended }).toEqual({ seen: 3, ended: 0 });
});

test('[NEXT-1] two calls predict more than one, and all probabilities add up to 1', () => {
  const { follows, followsPair, ...rest } = asked([0, 1]);
  expect(followsPair[3]).toBeCloseTo((1 + follows[3]!) / 2, 12);
  for (const chances of [follows, followsPair, rest.followsWarm, rest.followsHot, rest.followsAkin]) {
    expect(chances.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 9);
  }
});

test('[NEXT-1] for a tool without observed successors, predictions come from the successors and repetitions of other tools', () => {
  const { followsAkin, seen } = asked([2]);
  expect(seen).toBe(1);
  expect(followsAkin[2]).toBeGreaterThan(0);
  expect(followsAkin[1]).toBeGreaterThan(0);
});

test('[NEXT-1] how runs end: after the last call, at this step, with this set', () => {
  const { ends, ended, seen } = asked([0, 1]);
  expect({ ended, seen }).toEqual({ ended: 1, seen: 2 });
  expect(ends.afterLast).toBeCloseTo(1.5 / 3, 12);
  expect(ends.ofSet).toBeCloseTo(1.5 / 3, 12);
  expect(ends.usualSteps).toBeGreaterThan(2);
  expect(ends.usualSteps).toBeLessThan(4);
});

test('[NEXT-8] whether the last call is repeated is predicted from streaks of that length, of similar tools first', () => {
  const streaks = rememberSequences(candidates, [
    tinyRun(1, [3, 3, 3, 1]),
    tinyRun(2, [3, 3, 3, 0]),
    tinyRun(3, [0, 1, 0, 2]),
  ]);
  streaks.past.weigh([1, 1, 1]);
  const againAfter = (before: readonly number[]) =>
    followStatistics(SIZE, streaks, {
      before,
      cosines: streaks.past.cosines(tinyIntent(1).intent),
      likeness: candidates.cosines(rowOf(candidates.vectors, before.at(-1)!)),
      chances: new Float64Array(SIZE).fill(1 / SIZE),
    }).again;
  expect(againAfter([3])).toBeGreaterThan(0.8);
  expect(againAfter([3, 3])).toBeGreaterThan(0.8);
  expect(againAfter([3, 3, 3])).toBeLessThan(0.3);
  expect(againAfter([0])).toBeLessThan(0.5);
  // No past streak was that long: one half.
  expect(againAfter([3, 3, 3, 3])).toBeCloseTo(0.5, 9);
});

test('[NEXT-2] hidden runs are ignored', () => {
  const { after, seen } = asked([0], (run) => run < 2);
  expect([...after]).toEqual([0, 0, 1, 0, 0]);
  expect(seen).toBe(1);
  const nothing = asked([0], () => true);
  expect([...nothing.follows]).toEqual([0, 0, 0, 0, 0]);
});
