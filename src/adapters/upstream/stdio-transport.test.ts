import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { MessageLines, RecentLines } from './stdio-transport.ts';

function reader(limit = 1_000) {
  const messages: JSONRPCMessage[] = [];
  const garbage: string[] = [];
  const lines = new MessageLines({
    limit,
    onMessage: (message) => messages.push(message),
    onGarbage: (line) => garbage.push(line),
  });
  return { lines, messages, garbage };
}

const ping = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'ping', params: { text: 'ä🙂\u2028' } });

test('[UP-18] messages arrive whole wherever the pipe splits them, and everything else is garbage', () => {
  const text = [
    'Welcome!',
    JSON.stringify(ping(1)),
    '',
    '{"half":',
    '[1]',
    `${JSON.stringify(ping(2))}\r`,
    '',
  ].join('\n');
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
      const { lines, messages, garbage } = reader();
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      for (let i = 1; i < at.length; i++) lines.append(bytes.subarray(at[i - 1], at[i]));
      expect(messages).toEqual([ping(1), ping(2)]);
      expect(garbage).toEqual(['Welcome!', '{"half":', '[1]']);
    }),
    { numRuns: proofRuns(1_000), seed: proofSeed() },
  );
});

test('[UP-18] an endless line is cut off before it fills the memory', () => {
  const { lines } = reader(10);
  lines.append(Buffer.from('12345678'));
  expect(() => lines.append(Buffer.from('9abc'))).toThrow(/larger than 10 bytes/);
});

test('[UP-22] keeps the last lines, counts all of them, and counts an unfinished one', () => {
  const lines = new RecentLines(3);
  lines.append('one\ntw');
  expect(lines.list()).toEqual(['one', 'tw']);
  lines.append('o\r\nthree\nfour\n');
  expect(lines.list()).toEqual(['two', 'three', 'four']);
  expect(lines.count).toBe(4);
  lines.append('five');
  expect(lines.list()).toEqual(['three', 'four', 'five']);
});

test('[UP-19] returns what was written after a given point', () => {
  const lines = new RecentLines(3);
  lines.append('a\nb\n');
  const point = lines.count;
  expect(lines.list(point)).toEqual([]);
  lines.append('c\nd\ne\n');
  expect(lines.list(point)).toEqual(['c', 'd', 'e']);
  expect(lines.list(point + 1)).toEqual(['d', 'e']);
});

test('[UP-22] an endless line does not grow forever', () => {
  const lines = new RecentLines();
  for (let i = 0; i < 100; i++) lines.append('x'.repeat(1_000));
  expect(lines.list()[0]?.length).toBe(2_000);
});
