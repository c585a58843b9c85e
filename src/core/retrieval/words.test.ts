import { expect, test } from 'vitest';
import { identifierWords } from './words.ts';

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
