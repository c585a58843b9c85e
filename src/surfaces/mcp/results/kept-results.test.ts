import { expect, test } from 'vitest';
import { cutAt, KeptResults, previewOf, Shrink } from './kept-results.ts';

const note = (text: string) => ({ text, mimeType: 'text/plain' });

test('[MCP-43] kept results are bounded in bytes; the least recently used goes first', () => {
  const results = new KeptResults(100);
  const [first, second] = [
    results.keep(note('a'.repeat(20))),
    results.keep(note('b'.repeat(20))),
  ] as string[];
  results.contents(first!);
  results.keep(note('c'.repeat(20)));
  expect(results.contents(first!)).toMatchObject({ text: 'a'.repeat(20) });
  expect(() => results.contents(second!)).toThrow('not found');
  expect(results.keep(note('d'.repeat(60)))).toBeNull();
});

test('[MCP-11] a result too large to keep still has a preview', () => {
  const shrink = new Shrink(new KeptResults(100), 50);
  const { value, links } = shrink.value('x'.repeat(9_000));
  expect(value).toContain('too large to store');
  expect(links).toEqual([]);
  expect(shrink.value({ x: 'y'.repeat(9_000) }).value).toMatchObject({ truncated: true, bytes: 9_008 });
});

test('[MCP-11] large resources inside content become links, pictures stay', () => {
  const results = new KeptResults();
  const shrink = new Shrink(results, 50);
  const resource = { uri: 'x:y', mimeType: 'text/csv', text: 'a,b\n'.repeat(100) };
  const [link] = shrink.block({ type: 'resource', resource });
  expect(link).toMatchObject({ type: 'resource_link', mimeType: 'text/csv', size: 400 });
  const id = String(link?.uri).replace('pml://results/', '');
  expect(results.contents(id)).toMatchObject({ text: resource.text, mimeType: 'text/csv' });
  const image = { type: 'image', data: 'A'.repeat(1_000), mimeType: 'image/png' };
  expect(shrink.block(image)).toEqual([image]);
  const [blobLink] = shrink.block({ type: 'resource', resource: { uri: 'x:z', blob: 'B'.repeat(100) } });
  expect(results.contents(String(blobLink?.uri).replace('pml://results/', ''))).toHaveProperty('blob');
});

test('[MCP-11] a preview is the beginning and the end, in whole characters', () => {
  const text = '🙂'.repeat(5_000);
  const { head, tail, omittedChars } = previewOf(text);
  expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
  expect(head.length + tail.length + omittedChars).toBe(text.length);
  expect(previewOf('short')).toEqual({ head: 'short', tail: '', omittedChars: 0 });
});

test('[MCP-11] a cut never splits a character', () => {
  expect(cutAt('a🙂b', 2)).toBe(1);
  expect(cutAt('a🙂b', 3)).toBe(3);
  expect(cutAt('a🙂b', 9)).toBe(9);
});
