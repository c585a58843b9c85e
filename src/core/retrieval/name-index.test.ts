import { expect, test } from 'vitest';
import { createNameIndex } from './name-index.ts';

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
