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

  // Found among people's own wordings of recurring jobs.
  test.each([
    ['My washing machine is not draining, I would like a repair', 'arrange a repair of my washing machine'],
    ["I can't figure out the score of my cards, help me", 'compute the score of my cards'],
    ["That's not working, find the most popular song instead", 'find a popular song'],
    ['the flight may be delayed, can you check?', 'confirm the time of the flight'],
    ['a train to Rome, stopping in Paris, show me the stations', 'show me the stations to Rome'],
    ['use the zone of New York rather than Michigan and find the weather', 'find the weather of New York'],
    ['do not let the alarm ring, and change the other one', 'cancel the alarm and change the other one'],
    ['Explain which lens to use to avoid glare, and calculate the price', 'calculate the price of a lens'],
  ])('a fact is not: %s', (told, job) => {
    expect(relation(told, job)).not.toBe('opposed');
    expect(relation(job, told)).not.toBe('opposed');
  });

  test.each([
    'the bill for May is not to be sent to Ada',
    'the bill for May will not be sent',
    'we are not sending Ada the bill',
    'Ada does not want the bill',
    'Ada must not get the bill',
  ])('a wish in the form of a fact is: %s', (wish) => {
    expect(relation(wish, job)).toBe('opposed');
  });

  test.each([
    ['cancel the cleaning on Monday and reschedule it for Friday', 'change the cleaning to Friday'],
    ['cancel my ticket for May, then book one for June', 'book a train, and change the ticket to a sleeper'],
    ['There is a lamp in my cart that I decided not to buy. Can you take it out?', 'remove it from my cart'],
  ])('the same change in two steps or in one is not: %s', (steps, job) => {
    expect(relation(steps, job)).not.toBe('opposed');
    expect(relation(job, steps)).not.toBe('opposed');
  });

  test.each([
    ['cancel the cleaning on Monday', 'change the cleaning to Friday'],
    ['cancel my ticket for May, then book one for June', 'book a ticket for May'],
    ['take the lamp out of my cart', 'add the lamp to my cart'],
    ['take Ada off the list, she has left', 'add Ada to the list'],
    ['I am trying to avoid the weekly report', 'write the weekly report'],
  ])('what is only undone is: %s', (undoing, job) => {
    expect(relation(undoing, job)).toBe('opposed');
    expect(relation(job, undoing)).toBe('opposed');
  });

  test('words that only sound alike take nothing away', () => {
    for (const text of ['take out a loan', 'take the team out for lunch', 'take Friday off'])
      expect(actionsOf(text), text).toEqual([]);
  });

  test('another verb is different, and an intent without a verb is unknown', () => {
    expect(relation('translate the report', 'write the report')).toBe('different');
    expect(relation('the weekly report', 'write the report')).toBe('unknown');
    expect(relation('delete the report', 'write the report')).toBe('opposed');
    expect(relation('buy ten shares', 'sell ten shares')).toBe('opposed');
    // An additional step that removes something does not reverse the whole intent.
    expect(relation('create the report and delete the draft', 'create the report')).toBe('same');
  });
});

test('[FAMILIAR-4] only intents that resemble the query are compared', () => {
  const past = [{ text: 'send the bill' }, { text: 'send the bill' }, { text: 'void the bill' }];
  expect([...relateIntents('void the bill', past, [0.9, 0.1, 0.9]).opposed]).toEqual([0]);
});

describe('[HARM-3] the same verb supports nothing where a small word may reverse it', () => {
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
    'write the weekly report to the bin',
    'write the weekly report to trash',
    'back up the database into our public folder',
    'book a meeting room in the other building',
    'roll it out to production',
    'bin the weekly report',
  ])('%s', (query) => {
    expect(supporters(query)).toBe(0);
  });

  test.each([
    'write the weekly report for Ada',
    'book a meeting room from 2 to 3',
    'back up the orders database',
    'roll version 2 out to staging',
    'I want to write the weekly report',
    'write the weekly report to Ada',
    'book a meeting room in the morning',
    'back up the database to the orders database',
  ])('is not reversed: %s', (query) => {
    expect(supporters(query)).toBeGreaterThan(0);
  });

  test('an action taken back after its verb is not requested', () => {
    expect(relation('write no report for last week', 'write the report')).toBe('opposed');
    expect(relation('send Bob nothing', 'send Bob the bill')).toBe('opposed');
    expect(relation('write the report with no pictures', 'write the report')).toBe('same');
    expect(relation('send the bill no later than noon', 'send the bill')).toBe('same');
  });
});

test('[GROUND-2] an intent that only says what not to do is a prohibition; a problem or a doubt is not', () => {
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
])('[HARM-3] past intents ask for different work than "%s"', (query) => {
  expect(relate(query).others).toBe(1);
});

test('[HARM-3] refusing something is the opposite of asking for it, with or without a verb', () => {
  expect([...relate('the platform team needs no weekly report').opposed].sort()).toEqual([0, 1, 2]);
});

test('[HARM-3] the same work in other words is not different work, nor is an intent that names no action', () => {
  for (const query of [
    'draft the weekly report',
    'the weekly report for Bob',
    'get the weekly report written',
  ])
    expect(relate(query).opposed.size).toBe(0);
  expect(relate('draft the weekly report').others).toBe(0);
  expect(relate('the weekly report for Bob').others).toBe(0);
});

test('[GROUND-2] an intent that begins with a negation negates, whatever its verb; one that only asks to look does not', () => {
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
