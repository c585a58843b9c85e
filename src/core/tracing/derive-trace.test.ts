import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { capabilityNode, type NodeId, toolId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { deriveTrace } from './derive-trace.ts';

const read = toolId('filesystem', 'read_file');
const list = toolId('filesystem', 'list_directory');
const capability = capabilityNode('00000000-0000-4000-8000-000000000000');

function span(
  traceId: string,
  node: NodeId,
  from: number,
  to: number,
  success = true,
  kind = 'tool',
): TraceEvent[] {
  const base = { traceId, parentTraceId: null, node };
  return [
    { ...base, type: `${kind}_start` as 'tool_start', ts: from },
    { ...base, type: `${kind}_end` as 'tool_end', ts: to, success, durationMs: to - from },
  ];
}

test('[TRACE-1] the executed path is in order of start, a capability before its calls, failures included', () => {
  const [capabilityStart, capabilityEnd] = span('a', capability, 0, 30, true, 'capability');
  const events = [
    capabilityStart!,
    ...span('b', read, 1, 9, false),
    ...span('c', list, 10, 12),
    capabilityEnd!,
  ];
  expect(deriveTrace(events).executedPath).toEqual([capability, read, list]);
});

test('[TRACE-2] each call is listed with its position, its repeat number and the calls that overlapped it', () => {
  const events = [...span('a', read, 0, 10), ...span('b', read, 5, 8), ...span('c', list, 10, 11, false)];
  const { toolInvocations, toolsUsed, toolsSequence } = deriveTrace(events);
  expect(toolInvocations).toEqual([
    {
      id: `${read}#0`,
      tool: read,
      ts: 0,
      durationMs: 10,
      sequenceIndex: 0,
      success: true,
      parallelWith: [`${read}#1`],
    },
    {
      id: `${read}#1`,
      tool: read,
      ts: 5,
      durationMs: 3,
      sequenceIndex: 1,
      success: true,
      parallelWith: [`${read}#0`],
    },
    {
      id: `${list}#0`,
      tool: list,
      ts: 10,
      durationMs: 1,
      sequenceIndex: 2,
      success: false,
      parallelWith: [],
    },
  ]);
  expect(toolsUsed).toEqual([read, list]);
  expect(toolsSequence).toEqual([read, read, list]);
});

test('[TRACE-3] a call that never ended is listed as failed, until the last moment of the run', () => {
  const [start] = span('a', read, 2, 0);
  const { toolInvocations } = deriveTrace([start!, ...span('b', list, 3, 7)]);
  expect(toolInvocations[0]).toMatchObject({ success: false, durationMs: 5, parallelWith: [`${list}#0`] });
});

test('[TRACE-4] the sequence lists at most 500 calls; counts stay exact', () => {
  const events = Array.from({ length: 700 }, (_, i) => span(`t${i}`, read, i, i + 0.5)).flat();
  const { toolsSequence, toolInvocations } = deriveTrace(events);
  expect([toolsSequence.length, toolInvocations.length]).toEqual([500, 700]);
});

test('[TRACE-5] no events, no calls', () => {
  expect(deriveTrace([])).toEqual({
    executedPath: [],
    toolInvocations: [],
    toolsUsed: [],
    toolsSequence: [],
  });
});

test('[TRACE-8] simultaneous calls are in causal order, however they were recorded', () => {
  const inside = (events: TraceEvent[], parentTraceId: string) =>
    events.map((event) => ({ ...event, parentTraceId }));
  const caller = span('caller', capability, 5, 9, true, 'capability');
  const called = inside(span('called', read, 5, 6), 'caller');
  const instant = span('instant', list, 5, 5);
  const recordings = [
    [...caller, ...called, ...instant],
    [...called, ...instant, ...caller],
    [...instant, ...called, ...caller],
  ];
  for (const events of recordings) {
    expect(deriveTrace(events).executedPath).toEqual([list, capability, read]);
  }
});

test('[TRACE-2] overlaps agree with a comparison of every pair of calls', () => {
  const moment = fc.integer({ min: 0, max: 12 });
  const calls = fc.array(fc.tuple(moment, moment), { maxLength: 12 });
  fc.assert(
    fc.property(calls, (times) => {
      const events = times.flatMap(([a, b], i) => span(`t${i}`, read, Math.min(a, b), Math.max(a, b)));
      const { toolInvocations } = deriveTrace(events);
      for (const one of toolInvocations) {
        const beside = toolInvocations.filter(
          (other) =>
            other !== one && other.ts < one.ts + one.durationMs && one.ts < other.ts + other.durationMs,
        );
        expect(one.parallelWith).toEqual(beside.map(({ id }) => id));
      }
    }),
    { numRuns: proofRuns(2_000), seed: proofSeed() },
  );
});

test('[TRACE-9] a call lists the first 32 overlapping calls; ten thousand parallel calls stay small', () => {
  const events = Array.from({ length: 10_000 }, (_, i) => span(`t${i}`, read, i, 20_000)).flat();
  const { toolInvocations } = deriveTrace(events);
  const first = Array.from({ length: 33 }, (_, i) => `${read}#${i}`);
  expect(toolInvocations[0]?.parallelWith).toEqual(first.slice(1));
  expect(toolInvocations[9_999]?.parallelWith).toEqual(first.slice(0, 32));
});
