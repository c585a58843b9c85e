import { expect, test } from 'vitest';
import type { WireTraceEvent } from '../../../shared/api-types.ts';
import {
  alignCalls,
  type Call,
  callsOf,
  concurrencyOf,
  departuresOf,
  differencesOf,
  endOf,
  flamesOf,
  rowsOf,
  ticksOf,
  tokensOf,
  valueAt,
} from './calls.ts';

const start = (trace_id: string, ts: number, parent_trace_id: string | null = null): WireTraceEvent => ({
  type: 'tool_start',
  trace_id,
  parent_trace_id,
  node: `s:${trace_id}`,
  ts,
});
const end = (trace_id: string, ts: number, success = true): WireTraceEvent => ({
  ...start(trace_id, ts),
  type: 'tool_end',
  success,
});

/** a calls b and c side by side, then d, which is still under way; b failed. */
const EVENTS = [
  start('a', 100),
  start('b', 110, 'a'),
  start('c', 120, 'a'),
  end('b', 140, false),
  end('c', 150),
  start('d', 150, 'a'),
  start('e', 155, 'unknown'),
];

test('[DASH-43] calls are listed below their caller, with times since the start of the run', () => {
  const calls = callsOf(EVENTS);
  expect(
    rowsOf(calls).map(({ node, depth, start, end, status }) => [node, depth, start, end, status]),
  ).toEqual([
    ['s:a', 0, 0, null, 'running'],
    ['s:b', 1, 10, 40, 'error'],
    ['s:c', 1, 20, 50, 'success'],
    ['s:d', 1, 50, null, 'running'],
    ['s:e', 0, 55, null, 'running'],
  ]);
  expect(rowsOf(calls, new Set(['a'])).map(({ id }) => id)).toEqual(['a', 'e']);
  expect(endOf(calls, 70)).toBe(70);
  expect(callsOf([])).toEqual([]);
});

test('[DASH-44] calls that overlap are counted; consecutive calls do not overlap', () => {
  expect(concurrencyOf(callsOf(EVENTS), 70)).toEqual([
    { at: 10, count: 1 },
    { at: 20, count: 2 },
    { at: 40, count: 1 },
    { at: 50, count: 0 },
    { at: 50, count: 1 },
    { at: 55, count: 2 },
    { at: 70, count: 1 },
    { at: 70, count: 0 },
  ]);
});

test('[DASH-44] an axis has round numbers', () => {
  expect(ticksOf(95, 5)).toEqual([0, 20, 40, 60, 80]);
  expect(ticksOf(1, 5)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  expect(ticksOf(5200, 6)).toEqual([0, 1000, 2000, 3000, 4000, 5000]);
  expect(ticksOf(0, 5)).toEqual([0]);
});

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

test('[DASH-47] two runs are aligned by their longest common sequence, level by level', () => {
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

test('[DASH-47] differences are described in words', () => {
  const pair = (left: Partial<Call> | null, right: Partial<Call> | null) =>
    differencesOf({ key: '', depth: 0, left: left && call('a', left), right: right && call('a', right) });
  expect(pair({}, {})).toEqual([]);
  expect(pair({ args: { x: 1 }, result: 1 }, { args: { x: 2 }, result: 2 })).toEqual([
    'different arguments',
    'a different result',
  ]);
  expect(pair({}, { status: 'error', error: 'no' })).toEqual(['success became error']);
  expect(pair({}, null)).toEqual(['only in the first']);
  expect(pair(null, {})).toEqual(['only in the second']);
});

const made = (node: string, at: number, over: Partial<Call> = {}): Call => ({
  id: `${node} ${at}`,
  node,
  depth: 0,
  start: at,
  end: at + 10,
  status: 'success',
  args: { path: 'a', options: { lines: [1, 2] } },
  result: 'same',
  error: null,
  errorType: null,
  children: [],
  ...over,
});

test('[DIAG-1] differences from a good run are reported in this order: arguments, answers, order, calls, failures and time', () => {
  const good = [
    made('s:list', 0),
    made('s:read', 20),
    made('s:stat', 40),
    made('s:write', 60),
    made('s:end', 80),
  ];
  const bad = [
    made('s:list', 0, { args: { path: 'a', options: { lines: [1, 3] } } }),
    made('s:stat', 20, { result: { rows: 3 }, end: 520 }),
    made('s:read', 540),
    made('s:mail', 560),
    made('s:write', 580, { status: 'error', error: 'no space', result: undefined }),
  ];
  const told = departuresOf(good, bad).map(({ what, node, path }) => [what, node, path.join('.')]);
  expect(told).toEqual([
    ['arguments', 's:list', 'options.lines.1'],
    ['answer', 's:stat', ''],
    ['time', 's:stat', ''],
    ['order', 's:read', ''],
    ['extra', 's:mail', ''],
    ['failure', 's:write', ''],
    ['missing', 's:end', ''],
  ]);
  expect(departuresOf(good, good)).toEqual([]);
  const slow = [made('s:list', 0, { end: 900, result: { other: 1 } })];
  expect(departuresOf([made('s:list', 0)], slow).map(({ what }) => what)).toEqual(['answer', 'time']);
  expect(valueAt({ a: { b: [7] } }, ['a', 'b', '0'])).toBe(7);
  expect(tokensOf(made('s:list', 0))).toBeGreaterThan(0);
});

test('[DASH-90] calls of one node under the same callers are one block, inside the block of its caller', () => {
  const call = (node: string, from: number, to: number, children: Call[] = []): Call => ({
    ...callsOf([start(node, 0), end(node, 1)])[0]!,
    start: from,
    end: to,
    children,
  });
  // Two of b at once, 60 ms together within 40; then c.
  const flames = flamesOf(
    [call('a', 0, 40, [call('b', 0, 30), call('b', 0, 30)]), call('c', 40, 60), call('a', 60, 80)],
    0,
  );
  expect(flames.map(({ node, depth, calls, ms, selfMs }) => [node, depth, calls.length, ms, selfMs])).toEqual(
    [
      ['s:a', 0, 2, 60, 0],
      ['s:b', 1, 2, 60, 60],
      ['s:c', 0, 1, 20, 20],
    ],
  );
  expect(flames.map(({ left, width }) => [left, width])).toEqual([
    [0, 0.75],
    [0, 0.75],
    [0.75, 0.25],
  ]);
});
