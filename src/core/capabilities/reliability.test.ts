import { expect, test } from 'vitest';
import { wilsonLowerBound } from './reliability.ts';

test('[CAP-1] reliability is the Wilson lower bound: more evidence for the same rate counts for more', () => {
  expect(wilsonLowerBound(0, 0)).toBe(0);
  expect(wilsonLowerBound(0, 10)).toBe(0);
  expect(wilsonLowerBound(1, 1)).toBeCloseTo(0.2065, 4);
  expect(wilsonLowerBound(9, 10)).toBeCloseTo(0.5958, 4);
  expect(wilsonLowerBound(90, 100)).toBeCloseTo(0.8256, 4);
});
