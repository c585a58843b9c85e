import { expect, test } from 'vitest';
import { type NodeId, toolId } from '../../vocabulary/ids.ts';
import type { TraceEvent } from '../../vocabulary/trace-event.ts';
import { RUN_SIGNALS, RunMemory } from './run-signals.ts';

const [find, order, pay] = ['find', 'order', 'pay'].map((name) => toolId('shop', name)) as [
  NodeId,
  NodeId,
  NodeId,
];
type Made = readonly [node: NodeId, args: object, result: unknown];

/** Calls one after the other; an Error as the result is a failure. */
function events(calls: readonly Made[]): TraceEvent[] {
  return calls.flatMap(([node, args, result], i): TraceEvent[] => {
    const base = { traceId: `${i}`, parentTraceId: null, node };
    const end = { ...base, type: 'tool_end', ts: 2 * i + 1, durationMs: 1 } as const;
    return [
      { ...base, type: 'tool_start', ts: 2 * i, args },
      result instanceof Error
        ? { ...end, success: false, error: result.message, errorType: 'UNKNOWN' }
        : { ...end, success: true, result },
    ];
  });
}

const bought: Made[] = [
  [find, { name: 'lamp' }, { id: 'item-4711-lamp' }],
  [order, { item: 'item-4711-lamp' }, { order: 'o-9001-x' }],
  [pay, { order: 'o-9001-x' }, { paid: true }],
];

function named(memory: RunMemory, calls: readonly Made[]) {
  return memory
    .signals(events(calls))
    .map(({ values }) => Object.fromEntries(RUN_SIGNALS.map((name, i) => [name, values[i]!])));
}

test('[TD-4] errors, repeats, retries, empty results and passed-on values are visible after each call', () => {
  const calls: Made[] = [
    ...bought.slice(0, 2),
    [pay, { order: 'x' }, new Error('unknown order')],
    [pay, { order: 'o-9001-x' }, []],
    [find, { name: 'lamp' }, { id: 'item-4711-lamp' }],
  ];
  const rows = named(new RunMemory(), calls);
  expect(rows.map(({ errors }) => errors)).toEqual([0, 0, 1, 1, 1].map((n) => Math.fround(n / 3)));
  expect(rows.map(({ failed }) => failed)).toEqual([0, 0, 1, 0, 0]);
  expect(rows.map(({ retried }) => retried)).toEqual([0, 0, 0, 1, 0]);
  expect(rows.map(({ repeated }) => repeated)).toEqual([0, 0, 0, 0, 1]);
  expect(rows.map(({ sinceFlow }) => sinceFlow)).toEqual([1, 0, 1, 0, 1].map((n) => Math.fround(n / 5)));
  expect(rows[3]).toMatchObject({ emptyShare: 0.25, errorShare: 0.25 });
  for (const row of rows) for (const value of Object.values(row)) expect(value >= 0 && value <= 1).toBe(true);
});

test('[TD-4] a step that no successful run took is odd, and a step of failed runs is a bad sign', () => {
  const memory = new RunMemory();
  for (let i = 0; i < 4; i++) memory.add(events(bought), true);
  for (let i = 0; i < 4; i++) memory.add(events([bought[0]!, [pay, { sum: 1 }, new Error('no')]]), false);
  const [, good] = named(memory, bought);
  const [, bad] = named(memory, [bought[0]!, [pay, { sum: 1 }, { paid: true }]]);
  expect(good).toMatchObject({ oddFollow: 0, oddArguments: 0, expected: 1 });
  expect(bad).toMatchObject({ oddFollow: 1, oddArguments: 1, expected: 0 });
  expect(bad!.followFailure).toBeGreaterThan(good!.followFailure!);
  expect(memory.usualAfter(find)).toEqual({ node: order, runs: 4, of: 4 });
  expect(memory.usualAfter(pay)).toBeNull();
});

test('[TD-4] a call that has not ended gives no signal yet', () => {
  const [first, , second] = events(bought);
  expect(new RunMemory().signals([first!, second!])).toEqual([]);
});
