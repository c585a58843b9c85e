import { describe, expect, test } from 'vitest';
import type { StaticStructure, StructureNode } from '../structure/emit/static-structure.ts';
import { createRedactor } from '../tracing/redact.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../vocabulary/ids.ts';
import { admission, isWorthKeeping, reliabilityOf, wilsonLowerBound, wilsonUpperBound } from './lifecycle.ts';
import { quarantineReason } from './quarantine.ts';

test.each([
  [{ successfulRuns: 0 }, 'candidate'],
  [{ successfulRuns: 1 }, 'candidate'],
  [{ successfulRuns: 2 }, 'active'],
  [{ successfulRuns: 9 }, 'active'],
  [{ successfulRuns: 1, successfulReplays: 1 }, 'active'],
  [{ successfulRuns: 0, successfulReplays: 3 }, 'candidate'],
])('[CAP-14] %j is %s', (evidence, state) =>
  expect(admission({ hasIntent: true, hasResult: true, ...evidence })).toBe(state),
);

test('[CAP-26] code without an intent or without a result stays a candidate', () => {
  expect(admission({ successfulRuns: 9, hasIntent: false, hasResult: true })).toBe('candidate');
  expect(admission({ successfulRuns: 9, hasIntent: true, hasResult: false })).toBe('candidate');
});

describe('[CAP-15] a program is kept', () => {
  const at = { line: 1, column: 1 };
  const args = { bindings: {}, isComplete: true };
  const task: StructureNode = { id: 'n1', at, type: 'task', tool: toolId('fs', 'read'), arguments: args };
  const call: StructureNode = { id: 'n1', at, type: 'capability', slug: 'tidy', arguments: args };
  const operation: StructureNode = { id: 'n2', at, type: 'operation', operation: operationId('map') };
  const uuid = capabilityNode('00000000-0000-4000-8000-000000000000');

  const isKept = (
    nodes: StructureNode[],
    path: NodeId[],
    rest: Partial<StaticStructure> = {},
    code = 'return 1',
  ) =>
    isWorthKeeping({
      code,
      structure: { nodes, edges: [], unresolved: [], ...rest },
      trace: { executedPath: path },
    });

  test('when it makes a call and does more than that', () => {
    expect(isKept([task, { ...task, id: 'n2' }], [toolId('fs', 'read')])).toBe(true);
    expect(isKept([task, operation], [toolId('fs', 'read'), operationId('map')])).toBe(true);
    expect(isKept([call, operation], [uuid, operationId('map')])).toBe(true);
    expect(isKept([operation], [operationId('map')])).toBe(false);
    expect(isKept([task, operation], [])).toBe(false);
  });

  test('unless it only forwards to one capability or tool', () => {
    expect(isKept([task], [toolId('fs', 'read')])).toBe(false);
    expect(isKept([call], [uuid, toolId('fs', 'read')])).toBe(false);
    expect(isKept([call, { ...call, id: 'n2' }], [uuid, uuid])).toBe(true);
  });

  test('unless it contained a secret', () => {
    const redact = createRedactor(['correct-horse-battery']);
    expect(isKept([task, operation], [toolId('fs', 'read')])).toBe(true);
    const code = redact('return mcp.web.get({ key: "correct-horse-battery" })');
    expect(isKept([task, operation], [toolId('fs', 'read')], {}, code)).toBe(false);
  });

  test('unless its calls are only known at run time, or it cannot be parsed', () => {
    const unresolved = [{ text: 'mcp[x][y]', at, reason: 'x is not known' }];
    expect(isKept([task, operation], [toolId('fs', 'read')], { unresolved })).toBe(false);
    const trace = { executedPath: [toolId('fs', 'read')] };
    expect(isWorthKeeping({ code: 'return 1', structure: null, trace })).toBe(false);
  });

  test('unless it is as long as a data set', () => {
    expect(isKept([task, operation], [toolId('fs', 'read')], {}, `return "${'x'.repeat(70_000)}"`)).toBe(
      false,
    );
  });
});

test('[CAP-1] reliability is the Wilson lower bound: more evidence for the same rate counts for more', () => {
  expect(wilsonLowerBound(0, 0)).toBe(0);
  expect(wilsonLowerBound(0, 10)).toBe(0);
  expect(wilsonLowerBound(1, 1)).toBeCloseTo(0.2065, 4);
  expect(wilsonLowerBound(9, 10)).toBeCloseTo(0.5958, 4);
  expect(wilsonLowerBound(90, 100)).toBeCloseTo(0.8256, 4);
});

test('[CAP-1] two failures in two runs do not show that it fails, six in six do', () => {
  expect(wilsonUpperBound(0, 0)).toBe(1);
  expect(wilsonUpperBound(0, 2)).toBeGreaterThan(0.5);
  expect(wilsonUpperBound(0, 6)).toBeLessThan(0.5);
  expect(wilsonUpperBound(90, 100)).toBeCloseTo(0.9448, 4);
  expect(reliabilityOf({ successes: 0, uses: 0 })).toBe(0.75);
  expect(reliabilityOf({ successes: 2, uses: 2 })).toBeCloseTo(5 / 6);
});

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

test('[CAP-16] a tool whose definition changed since the capability was learned', () => {
  const learned = { 'fs:read': 'a', 'fs:write': 'b', 'fs:gone': 'c' };
  const reason = (now: Record<string, string>) =>
    quarantineReason({ recent: outcomes('++'), definitionHashes: learned, currentHash: (tool) => now[tool] });
  expect(reason({ 'fs:read': 'a', 'fs:write': 'b' })).toBeNull();
  expect(reason({ 'fs:read': 'x' })).toBe('fs:read has a different definition than when it was learned');
  expect(reason({ 'fs:read': 'x', 'fs:write': 'y' })).toBe(
    'fs:read, fs:write have a different definition than when it was learned',
  );
});
