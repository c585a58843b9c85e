import { expect, test } from 'vitest';
import { capabilityNode, operationId, toolId } from '../vocabulary/ids.ts';
import { deriveTrace } from './derive-trace.ts';
import { classifyError, createRecorder } from './recorder.ts';

const query = toolId('db', 'query');
const filter = operationId('filter');
const map = operationId('map');
const capability = capabilityNode('00000000-0000-4000-8000-000000000000');

/** A recorder whose clock the test sets, from a start that is not zero. */
function atWill() {
  let time = 1_000;
  let ids = 0;
  const told: string[] = [];
  const recorder = createRecorder({
    now: () => time,
    newId: () => `id-${ids++}`,
    redact: (value) => (value === 'token' ? 'hidden' : value),
    onEvent: (event) => told.push(`${event.type} ${event.node}`),
  });
  return {
    recorder,
    told,
    at(moment: number) {
      time = moment;
      return recorder;
    },
  };
}

test('[TRACE-6] a call recorded after it ended has both events, at their own times', () => {
  const { at, recorder, told } = atWill();
  const caller = at(1_000).start(capability, null);
  const traceId = at(1_010).record(filter, caller.traceId, {
    startedAt: 1_002.5,
    endedAt: 1_004,
    success: false,
    error: 'token',
    errorType: 'UNKNOWN',
  });
  const base = { traceId, parentTraceId: caller.traceId, node: filter };
  expect(recorder.events.slice(1)).toEqual([
    { ...base, type: 'tool_start', ts: 2.5 },
    {
      ...base,
      type: 'tool_end',
      ts: 4,
      success: false,
      durationMs: 1.5,
      error: 'hidden',
      errorType: 'UNKNOWN',
    },
  ]);
  expect(told.slice(1)).toEqual([`tool_start ${filter}`, `tool_end ${filter}`]);
});

test('[TRACE-6] calls recorded late take their correct place in the executed path', () => {
  const { at, recorder } = atWill();
  at(1_001).start(query, null);
  const last = at(1_009).start(query, null);
  at(1_012);
  last.end({ success: true });
  recorder.record(map, null, { startedAt: 1_007, endedAt: 1_008, success: true });
  recorder.record(filter, null, { startedAt: 1_005, endedAt: 1_006, success: true });
  expect(deriveTrace(recorder.events).executedPath).toEqual([query, filter, map, query]);
});

test('[TRACE-7] whatever its clock says, a call lies between the start of its parent and now', () => {
  const { at, recorder } = atWill();
  const caller = at(1_005).start(capability, null);
  at(1_010);
  recorder.record(filter, caller.traceId, { startedAt: 3, endedAt: 2_000, success: true });
  recorder.record(map, caller.traceId, { startedAt: 1_008, endedAt: 1_007, success: true });
  expect(recorder.events.slice(1).map(({ ts }) => ts)).toEqual([5, 10, 8, 8]);
  expect(deriveTrace(recorder.events).executedPath).toEqual([capability, filter, map]);
});

test.each([
  ['getaddrinfo ENOTFOUND api.example.com', 'NETWORK'],
  ['getaddrinfo EAI_AGAIN api.example.com', 'NETWORK'],
  ['connect EHOSTUNREACH 10.0.0.1:80', 'NETWORK'],
  ["ENOENT: no such file or directory, open 'a.txt'", 'NOT_FOUND'],
  ['The user was not found', 'NOT_FOUND'],
  ['It went wrong', 'UNKNOWN'],
])('[TRACE-20] "%s" is an error of type %s', (message, type) => {
  expect(classifyError(message)).toBe(type);
});
