import { expect, test } from 'vitest';
import { identifierWords, toolText } from './words.ts';

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
