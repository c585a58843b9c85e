import { describe, expect, test } from 'vitest';
import type { StaticStructure, StructureNode } from '../structure/emit/static-structure.ts';
import { createRedactor } from '../tracing/redact.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../vocabulary/ids.ts';
import { admission, isWorthKeeping } from './admission.ts';

test.each([
  [{ successfulRuns: 0 }, 'candidate'],
  [{ successfulRuns: 1 }, 'candidate'],
  [{ successfulRuns: 2 }, 'active'],
  [{ successfulRuns: 9 }, 'active'],
  [{ successfulRuns: 1, successfulReplays: 1 }, 'active'],
  [{ successfulRuns: 0, successfulReplays: 3 }, 'candidate'],
])('[CAP-14] %j is %s', (evidence, state) => expect(admission(evidence)).toBe(state));

describe('[CAP-15] a program is worth keeping', () => {
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

  test('when it called something', () => {
    expect(isKept([task], [toolId('fs', 'read')])).toBe(true);
    expect(isKept([call, operation], [uuid, operationId('map')])).toBe(true);
    expect(isKept([operation], [operationId('map')])).toBe(false);
    expect(isKept([task], [])).toBe(false);
  });

  test('unless it only hands on to one capability', () => {
    expect(isKept([call], [uuid, toolId('fs', 'read')])).toBe(false);
    expect(isKept([call, { ...call, id: 'n2' }], [uuid, uuid])).toBe(true);
  });

  test('unless it held a secret', () => {
    const redact = createRedactor(['correct-horse-battery']);
    const code = redact('return mcp.web.get({ key: "correct-horse-battery" })');
    expect(isKept([task], [toolId('fs', 'read')], {}, code)).toBe(false);
  });

  test('unless only a run can tell what it calls, or it cannot be read', () => {
    const unresolved = [{ text: 'mcp[x][y]', at, reason: 'x is not known' }];
    expect(isKept([task], [toolId('fs', 'read')], { unresolved })).toBe(false);
    const trace = { executedPath: [toolId('fs', 'read')] };
    expect(isWorthKeeping({ code: 'return 1', structure: null, trace })).toBe(false);
  });

  test('unless it is as long as a data set', () => {
    expect(isKept([task], [toolId('fs', 'read')], {}, `return "${'x'.repeat(70_000)}"`)).toBe(false);
  });
});
