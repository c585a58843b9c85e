import { expect, test } from 'vitest';
import { relateIntents } from './intent-actions.ts';

const PAST = [
  'write the weekly report',
  'please do the weekly report',
  'weekly report for the platform team',
];

const relate = (query: string) =>
  relateIntents(
    query,
    PAST.map((text) => ({ text })),
    PAST.map(() => 0.9),
  );

test.each([
  'what does the weekly report say?',
  'give Alice access to the weekly report',
  'open the weekly report',
  'throw away the weekly report',
  'get rid of the weekly report',
])('[HARM-3] past intents ask for other work than "%s"', (query) => {
  expect(relate(query).areOther).toBe(true);
});

test('[HARM-3] what is refused is the opposite of asking for it, with a verb or without one', () => {
  expect([...relate('the platform team needs no weekly report').opposed].sort()).toEqual([0, 1, 2]);
});

test('[HARM-3] the same work in other words is no other work, nor is what does not say what is to be done', () => {
  for (const query of [
    'draft the weekly report',
    'the weekly report for Bob',
    'get the weekly report written',
  ])
    expect(relate(query).opposed.size).toBe(0);
  expect(relate('draft the weekly report').areOther).toBe(false);
  expect(relate('the weekly report for Bob').areOther).toBe(false);
});
