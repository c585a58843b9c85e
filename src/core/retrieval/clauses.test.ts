import { expect, test } from 'vitest';
import { clauses } from './words.ts';

test('[SEARCH-5] an intent is cut at its sentences, list items, commas and steps', () => {
  expect(
    clauses(
      'Find flights to Rome, Italy under 1,500 euros and book the cheapest one. Then write me a summary:\n- a table of prices\n- the total of taxes',
    ),
  ).toEqual([
    'Find flights to Rome,',
    'Italy under 1,500 euros',
    'and book the cheapest one.',
    'Then write me a summary:',
    '- a table of prices',
    '- the total of taxes',
  ]);
});

test('[SEARCH-5] a piece too short to be a request stays with its neighbour', () => {
  expect(clauses('read a file')).toEqual(['read a file']);
  expect(clauses('rock and roll')).toEqual(['rock and roll']);
  expect(clauses('Play some quiet music. Can you do that for me? Then dim all the lamps.')).toEqual([
    'Play some quiet music. Can you do that for me?',
    'Then dim all the lamps.',
  ]);
});

test('[SEARCH-5] scripts without spaces are cut at their own marks', () => {
  expect(clauses('搜索今天的新闻，然后发送邮件给我。好')).toEqual([
    '搜索今天的新闻，',
    '然后发送邮件给我。 好',
  ]);
});

test('[SEARCH-5] in a very long text the first clauses count; an empty text has none', () => {
  expect(clauses('do one more thing now, '.repeat(1000))).toHaveLength(16);
  expect(clauses('')).toEqual([]);
  expect(clauses(' \n ')).toEqual([]);
});
