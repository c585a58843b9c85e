import { expect, test } from 'vitest';
import { alignCalls, differencesOf } from './align-calls.ts';
import type { Call } from './calls.ts';

function call(node: string, over: Partial<Call> = {}): Call {
  return {
    id: node,
    node,
    depth: 0,
    start: 0,
    end: 1,
    status: 'success',
    args: {},
    result: 1,
    error: null,
    errorType: null,
    children: [],
    ...over,
  };
}

const shown = (left: Call[], right: Call[]) =>
  alignCalls(left, right).map((pair) => [pair.left?.node ?? '-', pair.right?.node ?? '-']);

test('[DASH-47] two runs are aligned by the longest order both have, calls below calls', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((node) => call(node)) as [Call, Call, Call, Call];
  expect(shown([a, b, c], [a, c, d])).toEqual([
    ['a', 'a'],
    ['b', '-'],
    ['c', 'c'],
    ['-', 'd'],
  ]);
  expect(shown([], [a])).toEqual([['-', 'a']]);
  expect(shown([call('x', { children: [a, b] })], [call('x', { children: [b] })])).toEqual([
    ['x', 'x'],
    ['a', '-'],
    ['b', 'b'],
  ]);
});

test('[DASH-47] what differs is told in words', () => {
  const pair = (left: Partial<Call> | null, right: Partial<Call> | null) =>
    differencesOf({ key: '', depth: 0, left: left && call('a', left), right: right && call('a', right) });
  expect(pair({}, {})).toEqual([]);
  expect(pair({ args: { x: 1 }, result: 1 }, { args: { x: 2 }, result: 2 })).toEqual([
    'other arguments',
    'another result',
  ]);
  expect(pair({}, { status: 'error', error: 'no' })).toEqual(['success became error']);
  expect(pair({}, null)).toEqual(['only in the first']);
  expect(pair(null, {})).toEqual(['only in the second']);
});
