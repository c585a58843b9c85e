import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFairShare } from './fair-share.ts';

const { signal } = new AbortController();

test('[KEY-17] a user has a limited number of active requests, the next ones wait, and too many are refused', async () => {
  const share = createFairShare(() => 0, { atOnce: 2, perSecond: 1, burst: 100, inLine: 3 });
  const begun: number[] = [];
  const ask = async (number: number) => {
    const leave = await share.enter('eve', signal);
    if (leave) begun.push(number);
    return leave;
  };
  const asked = [1, 2, 3, 4, 5, 6].map(ask);
  expect(await asked[5]).toBeNull();
  await sleep(0);
  expect(begun).toEqual([1, 2]);
  const other = await share.enter('ada', signal);
  expect(other).not.toBeNull();
  const first = await asked[0]!;
  first!();
  first!();
  await sleep(0);
  expect(begun).toEqual([1, 2, 3]);
});

test('[KEY-17] a user may start a limited number of requests per second, and a cancelled one leaves the queue', async () => {
  let time = 0;
  const share = createFairShare(() => time, { atOnce: 100, perSecond: 10, burst: 2, inLine: 100 });
  const gone = new AbortController();
  let begun = 0;
  const ask = async (of = signal) => {
    const leave = await share.enter('eve', of);
    if (leave) begun += 1;
    return leave;
  };
  const asked = [ask(), ask(), ask(gone.signal), ask(), ask()];
  await sleep(0);
  expect(begun).toBe(2);
  gone.abort();
  expect(await asked[2]).toBeNull();
  time = 100;
  await expect.poll(() => begun).toBe(3);
  time = 1_000;
  await expect.poll(() => begun).toBe(4);
  expect(await share.enter('eve', gone.signal)).toBeNull();
});
