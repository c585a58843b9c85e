import { expect, test } from 'vitest';
import { quarantineReason } from './quarantine.ts';

const outcomes = (text: string) => [...text].map((letter) => letter === '+');

test.each([
  ['', null],
  ['---', null],
  ['----', '4 of its last 4 runs failed'],
  ['++++++++++----', '4 of its last 4 runs failed'],
  ['+-+-+-+-+-', null],
  ['++--+--+--', null],
  ['---+----', '4 of its last 4 runs failed'],
  ['-+-----+', null],
  ['--+---+---', null],
  ['----+---', '7 of its last 8 runs failed'],
  ['----++++++', null],
  ['-------+', '7 of its last 8 runs failed'],
  ['-------+++++++++', null],
])('[CAP-16] the outcomes %s give %j', (text, reason) => {
  expect(quarantineReason({ recent: outcomes(text) })).toBe(reason);
});

test('[CAP-16] a tool with another definition than when it was learned', () => {
  const learned = { 'fs:read': 'a', 'fs:write': 'b', 'fs:gone': 'c' };
  const reason = (now: Record<string, string>) =>
    quarantineReason({ recent: outcomes('++'), definitionHashes: learned, currentHash: (tool) => now[tool] });
  expect(reason({ 'fs:read': 'a', 'fs:write': 'b' })).toBeNull();
  expect(reason({ 'fs:read': 'x' })).toBe('fs:read has another definition than when it was learned');
  expect(reason({ 'fs:read': 'x', 'fs:write': 'y' })).toBe(
    'fs:read, fs:write have another definition than when it was learned',
  );
});
