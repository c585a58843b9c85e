import { expect, test } from 'vitest';
import { backoffMs } from './server-life.ts';

const options = { baseMs: 500, maxMs: 60_000 };

test('[UP-20] the delay doubles from the base to the maximum, and half of it is random', () => {
  const least = [0, 1, 2, 3, 8, 9, 500].map((failures) => backoffMs(failures, options, () => 0));
  expect(least).toEqual([0, 250, 500, 1_000, 30_000, 30_000, 30_000]);
  const most = [0, 1, 2, 3].map((failures) => backoffMs(failures, options, () => 1));
  expect(most).toEqual([0, 500, 1_000, 2_000]);
});
