import { expect, test } from 'vitest';
import { createBm25 } from './text-scores.ts';
import { words } from './words.ts';

test('[SEARCH-1] words are read from identifiers, sentences and other scripts, without stop words', () => {
  expect(words('Please read the listDirectory_tables in src/main')).toEqual([
    'read',
    'list',
    'directory',
    'tabl',
    'src',
    'main',
  ]);
  expect(words('読む ファイル')).toEqual(['読む', 'ファイル']);
  expect(words('')).toEqual([]);
});

test.each([
  'file files',
  'entity entities',
  'query queries',
  'book books booked booking',
  'translate translates translated translating',
  'run runs running',
  'plan plans planned planning',
])('[SEARCH-1] the forms of a word have one stem: %s', (forms) => {
  expect(new Set(words(forms)).size).toBe(1);
});

test('[SEARCH-1] words that only look like forms of another keep their own stem', () => {
  expect(words('status class string feed red sing bus pass')).toEqual([
    'status',
    'class',
    'string',
    'feed',
    'red',
    'sing',
    'bus',
    'pass',
  ]);
});

test('[SEARCH-2] BM25 gives the numbers of its formula', () => {
  const index = createBm25([['read', 'file'], ['read', 'mail', 'now'], ['sing']]);
  const scores = index.scores(['read', 'file', 'read']);
  // N = 3, mean length 2, k1 = 3, b = 3/4: idf(read) = ln(1 + 1.5/2.5), idf(file) = ln(1 + 2.5/1.5)
  const norm = (length: number) => 4 / (1 + 3 * (0.25 + (0.75 * length) / 2));
  expect(scores[0]).toBeCloseTo((Math.log(1.6) + Math.log(1 + 2.5 / 1.5)) * norm(2), 12);
  expect(scores[1]).toBeCloseTo(Math.log(1.6) * norm(3), 12);
  expect(scores[2]).toBe(0);
  expect(index.ideal(['read', 'file', 'read', 'unknown'])).toBeCloseTo(
    4 * (Math.log(1.6) + Math.log(1 + 2.5 / 1.5)),
    12,
  );
});

test('[SEARCH-3] an empty index and an empty query score nothing, and nothing is NaN', () => {
  expect([...createBm25([]).scores(['x'])]).toEqual([]);
  expect(createBm25([]).ideal(['x'])).toBe(0);
  expect([...createBm25([[], ['x']]).scores([])]).toEqual([0, 0]);
  expect([...createBm25([[], []]).scores(['x'])]).toEqual([0, 0]);
});
