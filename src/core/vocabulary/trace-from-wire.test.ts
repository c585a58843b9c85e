import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import { traceToWire } from './execution-trace.ts';
import { PmlError } from './pml-error.ts';
import { traceFromWire } from './trace-from-wire.ts';

const trace = sampleTrace({
  verdict: { good: false, reason: 'the wrong file', by: 'ada', at: '2026-03-05T10:00:00.000Z' },
});

/** The sample as a parsed line of a file, which a hostile sender may have changed. */
// biome-ignore lint/suspicious/noExplicitAny: a parsed line can be anything
function line(): any {
  return JSON.parse(JSON.stringify(traceToWire(trace)));
}

test('[TRACE-10] a trace read from JSON has every field except derived ones and the embedding', () => {
  const { executedPath: _path, toolInvocations: _calls, ...told } = trace;
  expect(traceFromWire(line())).toEqual({ ...told, intentEmbedding: null, embeddingModel: null });
});

test('[TRACE-10] [ORIGIN-1] optional fields may be omitted', () => {
  const { id, run_id, executed_at, success, duration_ms, events } = line();
  const bare = traceFromWire({ id, run_id, executed_at, success, duration_ms, events, extra: 'ignored' });
  expect(bare).toMatchObject({
    sessionId: null,
    origin: 'agent',
    capabilityId: null,
    intentText: null,
    errorType: null,
    decisions: [],
    taskResults: [],
    priority: 0.5,
    code: null,
    guest: null,
  });
  expect(bare).not.toHaveProperty('extra');
});

test('[TRACE-11] errors in a trace are reported with their place', () => {
  const cases: [says: string, harm: (wire: ReturnType<typeof line>) => unknown][] = [
    ['It must be an object, not []', () => []],
    ['It must be an object, not null', () => null],
    ['events is missing', (wire) => delete wire.events],
    ['id is missing', (wire) => delete wire.id],
    ['id must be an id of 1 to 512 visible characters, not ""', (wire) => Object.assign(wire, { id: '' })],
    ['id must be an id', (wire) => Object.assign(wire, { id: 'a\u0000b' })],
    ['id must be an id', (wire) => Object.assign(wire, { id: 'lone \ud800' })],
    ['run_id must be an id', (wire) => Object.assign(wire, { run_id: 'x'.repeat(513) })],
    ['session_id must be a string, not {"a":1}', (wire) => Object.assign(wire, { session_id: { a: 1 } })],
    ['origin must be one of agent', (wire) => Object.assign(wire, { origin: 'me' })],
    ['success must be true or false, not "yes"', (wire) => Object.assign(wire, { success: 'yes' })],
    [
      'duration_ms must be a number of at least 0, not -1',
      (wire) => Object.assign(wire, { duration_ms: -1 }),
    ],
    ['duration_ms must be a number', (wire) => Object.assign(wire, { duration_ms: JSON.parse('1e999') })],
    ['executed_at must be a date', (wire) => Object.assign(wire, { executed_at: 'yesterday' })],
    ['executed_at must be a date', (wire) => Object.assign(wire, { executed_at: '0000-01-01T00:00:00Z' })],
    ['executed_at must be a string, not 12', (wire) => Object.assign(wire, { executed_at: 12 })],
    ['error_type must be one of TIMEOUT', (wire) => Object.assign(wire, { error_type: 'OOPS' })],
    ['priority must be a number from 0 to 10', (wire) => Object.assign(wire, { priority: 1e9 })],
    ['guest.seed is missing', (wire) => Object.assign(wire, { guest: { started_at: 1 } })],
    ['code must be a string, not ["x"]', (wire) => Object.assign(wire, { code: ['x'] })],
    ['decisions must be a list', (wire) => Object.assign(wire, { decisions: {} })],
    ['events must be a list, not "none"', (wire) => Object.assign(wire, { events: 'none' })],
    ['events has 200001 entries', (wire) => Object.assign(wire, { events: Array(200_001).fill(0) })],
    ['events[0] must be an object, not 7', (wire) => Object.assign(wire.events, [7])],
    ['events[1].type must be one of tool_start', (wire) => Object.assign(wire.events[1], { type: 'start' })],
    ['events[1].ts must be a number', (wire) => Object.assign(wire.events[1], { ts: '1' })],
    ['events[1].node is not the id of a tool', (wire) => Object.assign(wire.events[1], { node: 'nothing' })],
    ['events[1].node is not the id of a tool', (wire) => Object.assign(wire.events[1], { node: 'a b:c' })],
    [
      'events[1].node is not the id of a tool',
      (wire) => Object.assign(wire.events[1], { node: 'capability:1' }),
    ],
    [
      'events[0] is a capability_start of a:b, which is a tool',
      (wire) => Object.assign(wire.events[0], { node: 'a:b' }),
    ],
    ['events[2].success is missing', (wire) => delete wire.events[2].success],
    ['events[2].error_type must be one of', (wire) => Object.assign(wire.events[2], { error_type: 'X' })],
    ['events[1] starts call a a second time', (wire) => Object.assign(wire.events[1], { trace_id: 'a' })],
    [
      'events[2] ends call x, which never started',
      (wire) => Object.assign(wire.events[2], { trace_id: 'x' }),
    ],
    ['events[4] ends call a a second time', (wire) => wire.events.push(wire.events[3])],
    ['events[2] has another node or parent', (wire) => Object.assign(wire.events[2], { node: 'a:b' })],
    [
      'events[2] has another node or parent',
      (wire) => Object.assign(wire.events[2], { parent_trace_id: null }),
    ],
    ['events[2] ends call b before it started', (wire) => Object.assign(wire.events[2], { ts: 1 })],
    ['events[1] starts before its parent a', (wire) => Object.assign(wire.events[1], { ts: 0 })],
    [
      'events[1] has parent gone, which is not a call of this trace',
      (wire) => [1, 2].map((i) => Object.assign(wire.events[i], { parent_trace_id: 'gone' })),
    ],
    [
      'events have a circle of parents through call',
      (wire) => {
        for (const event of wire.events) {
          event.parent_trace_id = event.trace_id === 'a' ? 'b' : 'a';
          event.ts = 5;
        }
      },
    ],
  ];
  for (const [says, harm] of cases) {
    const wire = line();
    const replaced = harm(wire);
    const given = replaced === null || (Array.isArray(replaced) && replaced.length === 0) ? replaced : wire;
    expect(() => traceFromWire(given), says).toThrow(says);
  }
});

test('[TRACE-11] any input gives a trace or a clear refusal', () => {
  const wire = line();
  const paths = fc.constantFrom(
    ...Object.keys(wire),
    'events.0',
    'events.1.ts',
    'events.2.node',
    'guest.seed',
  );
  fc.assert(
    fc.property(paths, fc.jsonValue({ maxDepth: 3 }), (path, value) => {
      const harmed = line();
      const keys = path.split('.');
      const last = keys.pop()!;
      keys.reduce((at, key) => at[key], harmed)[last] = value;
      try {
        const { executedAt, events } = traceFromWire(harmed);
        expect(Number.isNaN(executedAt.getTime())).toBe(false);
        expect(Array.isArray(events)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PmlError);
      }
    }),
    { numRuns: proofRuns(5_000), seed: proofSeed() },
  );
});
