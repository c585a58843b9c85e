import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofSeed } from '../../../test/proof-count.ts';
import { createNameIndex, identifierWords, isOneSlip, relatedWords, toolText, withKinds } from './words.ts';

test.each([
  ['read_file', 'read file'],
  ['readFile', 'read file'],
  ['kebab-case-name', 'kebab case name'],
  ['HTTPServerURL', 'http server url'],
  ['utf8Decode', 'utf8 decode'],
  ['API.v2/list:all', 'api v2 list all'],
  ['__private__', 'private'],
  ['größeÄndern', 'größe ändern'],
  ['', ''],
])('[EMB-13] %s is read as words: %s', (identifier, words) => {
  expect(identifierWords(identifier)).toBe(words);
});

const tool = {
  server: 'fileSystem',
  name: 'read_text-file',
  description: ' Reads a file. ',
  inputSchema: {},
};

test('[EMB-13] a tool is embedded as its server and name in words, its description and its parameters', () => {
  const inputSchema = {
    type: 'object',
    properties: { filePath: { type: 'string' }, head: {} },
    required: [],
  };
  expect(toolText({ ...tool, inputSchema })).toBe(
    'read text file in file system: Reads a file. (file path, head)',
  );
});

test.each([[{}], [null], [true], [{ properties: null }], [{ properties: {} }]])(
  '[EMB-13] a tool without parameters (%j) is embedded without them',
  (inputSchema) => {
    expect(toolText({ ...tool, inputSchema })).toBe('read text file in file system: Reads a file.');
  },
);

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

test('[SEARCH-6] other words are not taken for typos', () => {
  expect(named('sned')).toEqual({ 3: expect.any(Number) });
  expect(named('lend')).toEqual({});
  expect(named('read line')).toEqual({});
  expect(named('write to file')).toEqual({});
  expect(createNameIndex([]).named('anything').size).toBe(0);
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 6, maxLength: 9 });

test('[SEARCH-6] a letter too many, too few, wrong, or two swapped is one typo, wherever it is', () => {
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
    { seed: proofSeed() },
  );
});

test('[SEARCH-6] in short words, only swapped letters count as a typo', () => {
  expect(isOneSlip('sned', 'send')).toBe(true);
  expect(isOneSlip('lend', 'send')).toBe(false);
  expect(isOneSlip('teh', 'the')).toBe(false);
  expect(isOneSlip('the', 'the')).toBe(true);
});

test.each([
  ['rename report.doc to report-final.doc', 'rename file report.doc to file report-final.doc'],
  ['open the file notes.txt', 'open the file notes.txt'],
  ['who registered example.com', 'who registered domain example.com'],
  ['read https://example.com/a.html and mail bob@example.com', null],
  ['version 2.0 of node.x', null],
])('[SEARCH-17] %s: files and domains are named by their kind', (query, told) => {
  expect(withKinds(query)).toBe(told ?? query);
});

test('[SEARCH-15] related words are stems that tools use, the nearest first', () => {
  const folder = relatedWords('folder');
  expect(folder[0]?.[0]).toBe('directory');
  const cosines = folder.map(([, cosine]) => cosine);
  expect(cosines).toEqual(cosines.toSorted((a, b) => b - a));
  for (const cosine of cosines) expect(cosine).toBeGreaterThanOrEqual(0.5);
  expect(relatedWords('xyzzy')).toEqual([]);
});
