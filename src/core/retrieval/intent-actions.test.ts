import { describe, expect, test } from 'vitest';
import { actionsOf, relateActions, relateIntents } from './intent-actions.ts';

const relation = (a: string, b: string) => relateActions(actionsOf(a), actionsOf(b));

describe('[FAMILIAR-4] intents that ask for the opposite', () => {
  const job = 'Send Ada Lovelace the bill for May';
  test.each([
    'do not send Ada Lovelace the bill',
    "don't mail Ada her bill",
    'never send a bill to Ada again',
    'void the bill of Ada Lovelace',
    'cancel the bill for May',
    'stop sending bills to Ada',
    'there is no need to send Ada a bill',
    'please withdraw the bill, she has paid',
    'forget about the bill for Ada',
  ])('%s', (opposite) => {
    expect(relation(opposite, job)).toBe('opposed');
    expect(relation(job, opposite)).toBe('opposed');
  });

  test.each([
    'Please email Grace the invoice for June',
    'could you forward the bill to Ken, he is waiting',
    'I need to send Ada her bill, and I do not know her address',
    "don't forget to send Ada the bill",
  ])('is not: %s', (paraphrase) => {
    expect(relation(paraphrase, job)).toBe('same');
  });

  test('another verb is different, and one that says nothing is unknown', () => {
    expect(relation('translate the report', 'write the report')).toBe('different');
    expect(relation('the weekly report', 'write the report')).toBe('unknown');
    expect(relation('delete the report', 'write the report')).toBe('opposed');
    expect(relation('buy ten shares', 'sell ten shares')).toBe('opposed');
    // An extra step that removes something does not turn the whole around.
    expect(relation('create the report and delete the draft', 'create the report')).toBe('same');
  });
});

test('[FAMILIAR-4] only intents that are like the query are compared', () => {
  const past = [{ text: 'send the bill' }, { text: 'send the bill' }, { text: 'void the bill' }];
  expect([...relateIntents('void the bill', past, [0.9, 0.1, 0.9]).opposed]).toEqual([0]);
});

describe('[HARM-3] the same verb supports nothing where a small word may turn it around', () => {
  const past = [
    'write the weekly report',
    'book a meeting room',
    'back up the database',
    'roll it out to staging',
  ];
  const supporters = (query: string) =>
    relateIntents(
      query,
      past.map((text) => ({ text })),
      past.map(() => 0.9),
    ).alike.size;

  test.each([
    'write off the weekly report',
    'write no report',
    'write the weekly report only if I say so',
    'write anything but the weekly report',
    'book us out of the meeting room',
    'book a meeting room, not',
    'book nobody a meeting room',
    'back away from the database',
    'back up the database? Certainly not',
    'roll it back from staging',
  ])('%s', (query) => {
    expect(supporters(query)).toBe(0);
  });

  test.each([
    'write the weekly report for Ada',
    'book a meeting room from 2 to 3',
    'back up the orders database',
    'roll version 2 out to staging',
  ])('is not turned: %s', (query) => {
    expect(supporters(query)).toBeGreaterThan(0);
  });

  test('what is taken back after the verb is not asked for', () => {
    expect(relation('write no report for last week', 'write the report')).toBe('opposed');
    expect(relation('send Bob nothing', 'send Bob the bill')).toBe('opposed');
    expect(relation('write the report with no pictures', 'write the report')).toBe('same');
    expect(relation('send the bill no later than noon', 'send the bill')).toBe('same');
  });
});

test('[GROUND-2] what only says what is not to be done forbids; a problem or a doubt does not', () => {
  const forbids = (text: string) => relateIntents(text, [], []).forbids;
  for (const text of [
    'do not back it up',
    'Please never deploy on Fridays',
    'no report today',
    'we must not send it',
  ])
    expect(forbids(text), text).toBe(true);
  for (const text of [
    'the printer does not work',
    'I do not know which room is free',
    'do not send the bill, void it',
    "can't open the file",
    'the door does not open',
    'do not forget to send the bill',
  ])
    expect(forbids(text), text).toBe(false);
});

test('[FAMILIAR-4] a hostile text is read in bounded time', () => {
  const text = `${'not '.repeat(100_000)}${'!'.repeat(100_000)}`;
  expect(actionsOf(text).length).toBeLessThan(500);
});

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
  expect(relate(query).others).toBe(1);
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
  expect(relate('draft the weekly report').others).toBe(0);
  expect(relate('the weekly report for Bob').others).toBe(0);
});

test('[GROUND-2] what begins with a negation negates, whatever its verb; what only asks to look does not', () => {
  const negates = (text: string) => relateIntents(text, [], []).negates;
  for (const text of [
    'the billing service must not go to staging',
    'do not deploy it',
    'never open a ticket',
  ])
    expect(negates(text), text).toBe(true);
  for (const text of ['deploy the service', "I don't know which room is free", 'stop the service', ''])
    expect(negates(text), text).toBe(false);
});
