import { expect, test } from 'vitest';
import { bestSize } from './choose-set.ts';

test('[PLAN-7] sure ones are taken and unlikely ones left', () => {
  expect(bestSize([1, 1, 0, 0])).toEqual({ size: 2, expectedF1: 1 });
  expect(bestSize([0.95, 0.9, 0.05, 0.01]).size).toBe(2);
});

test('[PLAN-7] a tool worth less than half of what the set is worth is not taken', () => {
  // E[F1] of one: .9 x (.6 x 1 + .4 x 2/3) = .78; of two: .36 x 1 + (.54 + .04) x 2/3 = .7467.
  const { size, expectedF1 } = bestSize([0.9, 0.4]);
  expect(size).toBe(1);
  expect(expectedF1).toBeCloseTo(0.78, 12);
});

test('[PLAN-7] where nothing is likely several are taken, since one of them may be right', () => {
  expect(bestSize([0.2, 0.2, 0.2, 0.2, 0.2]).size).toBeGreaterThan(2);
});
