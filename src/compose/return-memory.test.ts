import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ofProcess, returnMemory } from './return-memory.ts';

const LOOK_MS = 10_000;

describe('memory that is returned', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A process that uses so many CPU milliseconds from one look to the next. */
  function process(...used: readonly number[]) {
    let at = 0;
    const sums = [0, ...used.map((_, i) => used.slice(0, i + 1).reduce((sum, ms) => sum + ms, 0))];
    const holdings = {
      lookMs: LOOK_MS,
      cpuMs: () => sums[Math.min(at, sums.length - 1)]!,
      giveBack: vi.fn(),
    };
    const stop = returnMemory([holdings]);
    const look = () => {
      at++;
      vi.advanceTimersByTime(LOOK_MS);
      return holdings.giveBack.mock.calls.length;
    };
    return { look, stop };
  }

  test('[OPS-9] is returned once, when the process rests after work', () => {
    const { look, stop } = process(5_000, 5_000, 10, 10, 10, 8_000, 10);
    const returned = Array.from({ length: 7 }, look);
    expect(returned).toEqual([0, 0, 1, 1, 1, 1, 2]);
    stop();
  });

  test('[OPS-9] stays while little was done, and after the end', () => {
    const idle = process(10, 10, 10);
    expect([idle.look(), idle.look(), idle.look()]).toEqual([0, 0, 0]);
    const closed = process(5_000, 10, 10);
    closed.look();
    closed.stop();
    expect([closed.look(), closed.look()]).toEqual([0, 0]);
  });
});

test('[OPS-9] the main thread rests while another one works', async () => {
  const busy = new Worker('for (;;);', { eval: true });
  await once(busy, 'online');
  const [main, whole] = ofProcess().map(({ cpuMs }) => ({ cpuMs, before: cpuMs() }));
  while (whole!.cpuMs() - whole!.before < 300) await sleep(20);
  expect(main!.cpuMs() - main!.before).toBeLessThan(100);
  await busy.terminate();
});

test('[OPS-9] memory of this process is returned without a word, and no function remains', () => {
  const warned = vi.fn();
  process.on('warning', warned);
  for (const { cpuMs, giveBack } of ofProcess()) {
    const before = cpuMs();
    giveBack();
    giveBack();
    expect(cpuMs()).toBeGreaterThan(before);
  }
  expect(warned).not.toHaveBeenCalled();
  expect('gc' in globalThis).toBe(false);
  process.off('warning', warned);
});
