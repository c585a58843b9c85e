import { expect, test } from 'vitest';
import { type NodeId, operationId, toolId } from '../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../core/vocabulary/trace-event.ts';
import { callOrder } from './trace-facts.ts';

const [READ, MAP] = [toolId('fs', 'read'), operationId('map')];

function call(
  traceId: string,
  node: NodeId,
  from: number,
  to: number,
  parentTraceId: string | null = null,
): TraceEvent[] {
  const base = { traceId, parentTraceId, node };
  return [
    { ...base, type: 'tool_start', ts: from },
    { ...base, type: 'tool_end', ts: to, success: true, durationMs: to - from },
  ];
}

const told = (events: readonly TraceEvent[]) =>
  callOrder(events).map(
    ({ fromTraceId, toTraceId, pastOperations }) =>
      `${fromTraceId} ${pastOperations ? '=>' : '->'} ${toTraceId}`,
  );

test('[DASH-25] a call follows those that ended before it, parallel calls never follow each other, and tools follow through operations', () => {
  const events = [
    ...call('a', READ, 0, 1),
    ...call('map', MAP, 2, 3),
    ...call('b', READ, 4, 8),
    ...call('c', READ, 5, 9),
    ...call('inner', READ, 5, 6, 'b'),
    ...call('d', READ, 10, 11),
  ];
  expect(told(events)).toEqual(['a -> map', 'map -> b', 'map -> c', 'c -> d', 'b -> d', 'a => b', 'a => c']);
});
