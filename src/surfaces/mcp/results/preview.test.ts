import { expect, test } from 'vitest';
import { cutAt, previewOf } from './preview.ts';

test('[MCP-11] a preview is the beginning and the end, in whole characters', () => {
  const text = '🙂'.repeat(5_000);
  const { head, tail, omittedChars } = previewOf(text);
  expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
  expect(head.length + tail.length + omittedChars).toBe(text.length);
  expect(previewOf('short')).toEqual({ head: 'short', tail: '', omittedChars: 0 });
});

test('[MCP-11] a cut never parts the halves of a character', () => {
  expect(cutAt('a🙂b', 2)).toBe(1);
  expect(cutAt('a🙂b', 3)).toBe(3);
  expect(cutAt('a🙂b', 9)).toBe(9);
});
