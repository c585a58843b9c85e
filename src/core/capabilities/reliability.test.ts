import { expect, test } from 'vitest';
import { reliabilityOf, wilsonLowerBound, wilsonUpperBound } from './reliability.ts';

test('[CAP-1] reliability is the Wilson lower bound: more evidence for the same rate counts for more', () => {
  expect(wilsonLowerBound(0, 0)).toBe(0);
  expect(wilsonLowerBound(0, 10)).toBe(0);
  expect(wilsonLowerBound(1, 1)).toBeCloseTo(0.2065, 4);
  expect(wilsonLowerBound(9, 10)).toBeCloseTo(0.5958, 4);
  expect(wilsonLowerBound(90, 100)).toBeCloseTo(0.8256, 4);
});

test('[CAP-1] two failures in two runs do not show that it fails, six in six do', () => {
  expect(wilsonUpperBound(0, 0)).toBe(1);
  expect(wilsonUpperBound(0, 2)).toBeGreaterThan(0.5);
  expect(wilsonUpperBound(0, 6)).toBeLessThan(0.5);
  expect(wilsonUpperBound(90, 100)).toBeCloseTo(0.9448, 4);
  expect(reliabilityOf({ successes: 0, uses: 0 })).toBe(0.75);
  expect(reliabilityOf({ successes: 2, uses: 2 })).toBeCloseTo(5 / 6);
});
