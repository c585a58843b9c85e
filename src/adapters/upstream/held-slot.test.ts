import { expect, test } from 'vitest';
import { CallSlots } from './call-slots.ts';
import { HeldSlot } from './held-slot.ts';

const { signal } = new AbortController();

/** A client whose answers are given by hand. */
function slowClient() {
  const answers: (() => void)[] = [];
  const ask = () =>
    new Promise<{ action: string }>((resolve) => answers.push(() => resolve({ action: 'accept' })));
  return { client: { id: 'person', capabilities: {}, ask }, answers };
}

test('[UP-47] a slot is free while the client is asked, however much, and taken again for its answers', async () => {
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

test('[UP-47] a call that ended while its client was asked takes no slot again', async () => {
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

test('[UP-47] a call that ended while it waited for its slot gives it back', async () => {
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
