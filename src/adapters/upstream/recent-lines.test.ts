import { expect, test } from 'vitest';
import { RecentLines } from './recent-lines.ts';

test('[UP-22] keeps the last lines, counts them all, and counts one being written', () => {
  const lines = new RecentLines(3);
  lines.append('one\ntw');
  expect(lines.list()).toEqual(['one', 'tw']);
  lines.append('o\r\nthree\nfour\n');
  expect(lines.list()).toEqual(['two', 'three', 'four']);
  expect(lines.count).toBe(4);
  lines.append('five');
  expect(lines.list()).toEqual(['three', 'four', 'five']);
});

test('[UP-19] tells what was written after a certain point', () => {
  const lines = new RecentLines(3);
  lines.append('a\nb\n');
  const point = lines.count;
  expect(lines.list(point)).toEqual([]);
  lines.append('c\nd\ne\n');
  expect(lines.list(point)).toEqual(['c', 'd', 'e']);
  expect(lines.list(point + 1)).toEqual(['d', 'e']);
});

test('[UP-22] a line without an end does not grow for ever', () => {
  const lines = new RecentLines();
  for (let i = 0; i < 100; i++) lines.append('x'.repeat(1_000));
  expect(lines.list()[0]?.length).toBe(2_000);
});
