import { expect, test } from 'vitest';
import { CallSlots, HeldSlot } from './call-slots.ts';

test('[UP-24] slots are given in order of arrival, skipping callers that gave up, and a raised limit admits more', async () => {
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

test('[UP-49] users share the slots: calls that never end leave room, and the user with the fewest calls is next', async () => {
  const slots = new CallSlots(8);
  const order: string[] = [];
  const ask = async (user: string) => {
    const release = await slots.take(undefined, user);
    order.push(user);
    return release;
  };
  const alone = await Promise.all(Array.from({ length: 8 }, () => ask('eve')));
  expect(slots.taken).toBe(8);
  // From the second user on, nobody gets all.
  const first = ask('ada');
  for (const release of alone) release();
  (await first)();
  order.length = 0;
  for (let i = 0; i < 20; i++) void ask('eve');
  await expect.poll(() => [slots.taken, slots.waiting]).toEqual([6, 14]);
  for (const user of ['ada', 'bob', 'ada', 'bob']) (await ask(user))();
  expect(order.slice(6)).toEqual(['ada', 'bob', 'ada', 'bob']);
  expect([slots.taken, slots.waiting]).toEqual([6, 14]);
  const held = await ask('ada');
  await ask('bob');
  void ask('bob');
  void ask('cy');
  expect([slots.taken, slots.waiting]).toEqual([8, 16]);
  held();
  await expect.poll(() => order.at(-1)).toBe('cy');
});

const { signal } = new AbortController();

/** A client whose answers are given by hand. */
function slowClient() {
  const answers: (() => void)[] = [];
  const ask = () =>
    new Promise<{ action: string }>((resolve) => answers.push(() => resolve({ action: 'accept' })));
  return { client: { id: 'person', capabilities: {}, ask }, answers };
}

test('[UP-47] a slot is free while the client is asked, however often, and taken again once it has answered', async () => {
  const slots = new CallSlots(1);
  const slot = await HeldSlot.take(slots, undefined);
  const { client, answers } = slowClient();
  const lent = slot.lentWhileAsking(client);
  const asked = [lent.ask('elicitation/create', {}, signal), lent.ask('roots/list', {}, signal)];
  expect(slots.taken).toBe(0);
  answers[0]?.();
  await asked[0];
  expect(slots.taken).toBe(0);
  const meanwhile = await slots.take(undefined);
  answers[1]?.();
  await expect.poll(() => slots.waiting).toBe(1);
  meanwhile();
  await asked[1];
  expect([slots.taken, slots.waiting]).toEqual([1, 0]);
  slot.release();
  expect(slots.taken).toBe(0);
});

test('[UP-47] a call that ends while its client is asked takes no slot again', async () => {
  const slots = new CallSlots(1);
  const slot = await HeldSlot.take(slots, undefined);
  const { client, answers } = slowClient();
  const asked = slot.lentWhileAsking(client).ask('elicitation/create', {}, signal);
  const meanwhile = await slots.take(undefined);
  slot.release();
  answers[0]?.();
  await asked;
  meanwhile();
  expect([slots.taken, slots.waiting]).toEqual([0, 0]);
});

test('[UP-47] a call that ends while it waits for its slot gives the slot back', async () => {
  const slots = new CallSlots(1);
  const slot = await HeldSlot.take(slots, undefined);
  const { client, answers } = slowClient();
  const asked = slot.lentWhileAsking(client).ask('elicitation/create', {}, signal);
  const meanwhile = await slots.take(undefined);
  answers[0]?.();
  await expect.poll(() => slots.waiting).toBe(1);
  slot.release();
  meanwhile();
  await asked;
  expect([slots.taken, slots.waiting]).toEqual([0, 0]);
});
