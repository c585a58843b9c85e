import { expect, test } from 'vitest';
import { adaptiveHeads } from './bilinear-term.ts';

test('[HEADS-1] heads grow with the runs, from four to at most twelve', () => {
  const counts = [0, 999, 1_000, 4_999, 5_000, 1e9];
  expect(counts.map(adaptiveHeads)).toEqual([4, 4, 8, 8, 12, 12]);
});
