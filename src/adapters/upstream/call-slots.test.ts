import { expect, test } from 'vitest';
import { CallSlots } from './call-slots.ts';

test('[UP-24] slots go in order of arrival, past those who gave up, and a raised limit admits more', async () => {
  const slots = new CallSlots(1);
  const order: string[] = [];
  const controller = new AbortController();
  const free = await slots.take(undefined);
  const waiting = (name: string, signal?: AbortSignal) =>
    slots.take(signal).then((release) => {
      order.push(name);
      return release;
    });
  const first = waiting('first');
  const gone = waiting('gone', controller.signal);
  const second = waiting('second');
  const third = waiting('third');
  expect([slots.taken, slots.waiting]).toEqual([1, 4]);
  controller.abort(new Error('no more'));
  await expect(gone).rejects.toThrow('no more');
  free();
  free();
  await first;
  expect([slots.taken, slots.waiting]).toEqual([1, 2]);
  slots.limit = 3;
  await Promise.all([second, third]);
  expect(order).toEqual(['first', 'second', 'third']);
  for (const release of [first, second, third]) (await release)();
  expect([slots.taken, slots.waiting]).toEqual([0, 0]);
});
