import { describe, expect, test } from 'vitest';
import { actionsOf, opposedIntents, relateActions } from './intent-actions.ts';

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
  expect([...opposedIntents('void the bill', past, [0.9, 0.1, 0.9])]).toEqual([0]);
});

test('[FAMILIAR-4] a hostile text is read in bounded time', () => {
  const text = `${'not '.repeat(100_000)}${'!'.repeat(100_000)}`;
  expect(actionsOf(text).length).toBeLessThan(500);
});
