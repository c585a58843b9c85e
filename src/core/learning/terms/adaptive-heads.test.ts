import { expect, test } from 'vitest';
import { adaptiveHeads } from './adaptive-heads.ts';

test('[HEADS-1] heads and hidden size grow with the traces, and at most twelve heads serve', () => {
  const counts = [0, 999, 1_000, 9_999, 10_000, 99_999, 100_000, 1e9];
  const heads = (isServing: boolean) => counts.map((traces) => adaptiveHeads(traces, { isServing }).heads);
  expect(heads(true)).toEqual([4, 4, 8, 8, 12, 12, 12, 12]);
  expect(heads(false)).toEqual([4, 4, 8, 8, 12, 12, 16, 16]);
  expect(adaptiveHeads(50_000)).toEqual({ heads: 12, hidden: 192 });
  expect(adaptiveHeads(100_000, { isServing: false })).toEqual({ heads: 16, hidden: 256 });
});
