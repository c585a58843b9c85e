import { expect, onTestFinished, test } from 'vitest';
import { createLoopWatch } from './loop-watch.ts';

const CLOCK = { now: () => new Date(), monotonic: () => performance.now() };

/** Does nothing, and lets nothing else be done. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('[HANG-9] a blocked event loop is counted and logged, with the work that had begun before', async () => {
  const told: unknown[] = [];
  const watch = createLoopWatch(CLOCK, { log: (...line) => void told.push(line) });
  onTestFinished(watch.close);
  for (let i = 1; i <= 6; i++) watch.begin(`step ${i}`);
  watch.begin('x'.repeat(1_000));
  block(700);
  await expect.poll(() => watch.figures().longestMs).toBeGreaterThan(500);
  const { longestMs, last } = watch.figures();
  expect(last?.during).toEqual(['x'.repeat(120), 'step 6', 'step 5', 'step 4', 'step 3']);
  expect(told).toContainEqual([
    'warn',
    `The event loop was blocked for ${longestMs} ms`,
    { ms: longestMs, during: last?.during },
  ]);
});

test('[HANG-9] without a log it is only counted', async () => {
  const watch = createLoopWatch(CLOCK, null);
  onTestFinished(watch.close);
  block(400);
  await expect.poll(() => watch.figures().stalls).toBeGreaterThan(0);
});
