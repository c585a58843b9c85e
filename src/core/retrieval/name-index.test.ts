import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNameIndex, isOneSlip } from './name-index.ts';

const tools = [
  { server: 'files', name: 'read_file' },
  { server: 'files', name: 'writeFile' },
  { server: 'mirror', name: 'read_file' },
  { server: 'mail', name: 'send' },
  { server: 'web', name: 'fetch-page' },
];
const index = createNameIndex(tools);
const named = (query: string) => Object.fromEntries([...index.named(query)].sort(([a], [b]) => a - b));

test.each(['read_file', 'readFile', 'Read File', ' READ-FILE '])(
  '[SEARCH-6] %s names every tool of that name',
  (query) => {
    expect(named(query)).toEqual({ 0: 1, 2: 1 });
  },
);

test.each(['files:read_file', 'mcp__files__read_file', 'files read file', 'files.readFile'])(
  '[SEARCH-6] %s names one tool',
  (query) => {
    expect(named(query)).toEqual({ 0: 1 });
  },
);

test('[SEARCH-6] an identifier in a sentence is a name, a plain word is not', () => {
  expect(named('call mail:send, then use writeFile to keep the answer')).toEqual({ 1: 1, 3: 1 });
  expect(named('open the fetch-page tool')).toEqual({ 4: 1 });
  expect(named('send a letter to everybody who wrote')).toEqual({});
  expect(named(`${'please '.repeat(40)} send`)).toEqual({});
});

test.each(['raed_file', 'read_fiel', 'raed fiel', 'reed file', 'readfil', 'read_filee'])(
  '[SEARCH-6] %s is forgiven',
  (query) => {
    const found = named(query);
    expect(Object.keys(found)).toEqual(['0', '2']);
    expect(found[0]).toBeGreaterThan(0.5);
    expect(found[0]).toBeLessThan(1);
  },
);

test('[SEARCH-6] other words are not taken for slips', () => {
  expect(named('sned')).toEqual({ 3: expect.any(Number) });
  expect(named('lend')).toEqual({});
  expect(named('read line')).toEqual({});
  expect(named('write to file')).toEqual({});
  expect(createNameIndex([]).named('anything').size).toBe(0);
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 6, maxLength: 9 });

test('[SEARCH-6] a letter too many, too few, wrong, or two swapped is one slip, wherever it is', () => {
  fc.assert(
    fc.property(word, fc.nat(8), fc.constantFrom('a', 'x'), (text, at, letter) => {
      const i = Math.min(at, text.length - 2);
      const [before, after] = [text.slice(0, i), text.slice(i)];
      const swapped = `${before}${after[1]}${after[0]}${after.slice(2)}`;
      for (const slip of [
        before + letter + after,
        before + after.slice(1),
        before + letter + after.slice(1),
        swapped,
      ]) {
        expect([slip, isOneSlip(slip, text)]).toEqual([slip, true]);
        expect([slip, isOneSlip(text, slip)]).toEqual([slip, true]);
      }
      expect(isOneSlip(text, `${text}xx`)).toBe(false);
      expect(isOneSlip(text, `x${text.slice(1, -1)}x`)).toBe(false);
    }),
  );
});

test('[SEARCH-6] short words are only forgiven swapped letters', () => {
  expect(isOneSlip('sned', 'send')).toBe(true);
  expect(isOneSlip('lend', 'send')).toBe(false);
  expect(isOneSlip('teh', 'the')).toBe(false);
  expect(isOneSlip('the', 'the')).toBe(true);
});
