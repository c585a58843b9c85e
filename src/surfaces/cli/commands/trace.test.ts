import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../../test/memory/store.ts';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import {
  sampleApproval,
  sampleCapability,
  sampleRun,
  sampleTrace,
} from '../../../../test/support/samples.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { deriveTrace } from '../../../core/tracing/derive-trace.ts';
import { type ExecutionTrace, traceToWire } from '../../../core/vocabulary/execution-trace.ts';
import { capabilityNode, toolId } from '../../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Settings, Store } from '../../../engine/ports.ts';
import { linesOf } from './trace.ts';

const SECRET = 'hush-hush-hush';

function systemOn(store: Store) {
  return {
    openGateway: async () =>
      openedGateway(
        handMadeGateway({
          store,
          settings: () => ({ secrets: [SECRET] }) as unknown as Settings,
          capabilities: { list: () => store.capabilities.list() } as unknown as Gateway['capabilities'],
        }),
      ),
  };
}

/** With what follows from its events, as every stored trace has it. */
function wholeTrace(over: Partial<ExecutionTrace> = {}): ExecutionTrace {
  const trace = sampleTrace({ intentEmbedding: null, embeddingModel: null, ...over });
  const { executedPath, toolInvocations } = deriveTrace(trace.events);
  return { ...trace, executedPath, toolInvocations };
}

async function filled(...traces: readonly ExecutionTrace[]) {
  const store = createMemoryStore();
  await store.traces.appendAll(traces);
  return { store, system: systemOn(store) };
}

const lineOf = (trace: ExecutionTrace) => JSON.stringify(traceToWire(trace));

const read = toolId('filesystem', 'read_file');
const mail = toolId('mail', 'send');

function call(id: string, parentTraceId: string | null, node = read, from = 0, to = 1): TraceEvent[] {
  const base = { traceId: id, parentTraceId, node };
  return [
    { ...base, type: 'tool_start', ts: from },
    { ...base, type: 'tool_end', ts: to, success: true, durationMs: to - from },
  ];
}

test('[TRACE-12] show draws the calls as a tree, with start, duration and errors', async () => {
  const capability = sampleCapability();
  const node = capabilityNode(capability.id);
  const base = { traceId: 'c', parentTraceId: null, node };
  const failed = { success: false, error: 'no\nsuch \u001b[31m file', errorType: 'NOT_FOUND' } as const;
  const trace = wholeTrace({
    intentText: 'read it\u001b[2J',
    code: 'const a = 1;\nreturn a;',
    events: [
      { ...base, type: 'capability_start', ts: 0.5 },
      ...call('x', 'c', read, 1, 3.5),
      ...call('y', 'x', mail, 2, 3),
      { traceId: 'z', parentTraceId: 'c', node: read, type: 'tool_start', ts: 4 },
      {
        traceId: 'z',
        parentTraceId: 'c',
        node: read,
        type: 'tool_end',
        ts: 1_504,
        durationMs: 1_500,
        ...failed,
      },
      { ...base, type: 'capability_end', ts: 1_510, success: true, durationMs: 1_509.5 },
      { traceId: 'w', parentTraceId: null, node: mail, type: 'tool_start', ts: 1_520 },
    ],
  });
  const { store, system } = await filled(trace);
  await store.capabilities.put(capability);
  const { code, out } = await runCommand(['trace', 'show', trace.id], system);
  expect(code).toBe(0);
  expect(out.slice(out.indexOf('Calls'))).toBe(
    [
      'Calls',
      `  ✓ capabilities.${capability.slug}  at 0.50 ms  1.5 s`,
      '  ├─ ✓ filesystem:read_file                at 1.00 ms  2.50 ms',
      '  │  └─ ✓ mail:send                        at 2.00 ms  1.00 ms',
      '  └─ ✗ filesystem:read_file                at 4.00 ms  1.5 s    NOT_FOUND: no such \\u001b[31m file',
      '  ✗ mail:send                              at 1.5 s    0.00 ms  unfinished',
      '',
      'Program',
      '  1 | const a = 1;',
      '  2 | return a;',
      '',
      'Arguments and results: --json',
      '',
    ].join('\n'),
  );
  expect(out).toContain('intent   read it\\u001b[2J\n');
  const json = await runCommand(['trace', 'show', trace.id, '--json'], system);
  expect(JSON.parse(json.out)).toMatchObject({ ...JSON.parse(lineOf(trace)), episodes: [] });
  const list = await runCommand(['trace', 'ls'], system);
  expect(list.out).toMatch(
    /^✗ \S+ {2}2026-\S+ {2}4 calls, 12\.3 ms {2}filesystem:read_file, mail:send {2}read it\\u001b\[2J\n$/,
  );
});

test('[TRACE-19] decisions about a run are shown with its trace, as text', async () => {
  const trace = wholeTrace({});
  const { store, system } = await filled(trace);
  const event = { workflowId: trace.runId, timestamp: new Date(Date.UTC(2026, 10, 2)) };
  const decision = { decision: 'approved', by: 'ana\u001b[2J' };
  await store.episodes.append([
    { ...event, id: 'e1', eventType: 'task_complete', taskId: 'a', data: { success: true } },
    { ...event, id: 'e2', eventType: 'hil_decision', taskId: 'b', data: decision },
  ]);
  const { out } = await runCommand(['trace', 'show', trace.id], system);
  expect(out).toMatch(
    /\nEvents\n {2}2026-11-02T00:00:00\.000Z {2}hil_decision {2}b {2}\{"decision":"approved"/,
  );
  expect(out).not.toContain('task_complete');
  expect(out).not.toContain('\u001b');
  const json = await runCommand(['trace', 'show', trace.id, '--json'], system);
  expect(JSON.parse(json.out).episodes).toEqual([
    { event_type: 'task_complete', task_id: 'a', at: '2026-11-02T00:00:00.000Z', data: { success: true } },
    { event_type: 'hil_decision', task_id: 'b', at: '2026-11-02T00:00:00.000Z', data: decision },
  ]);
});

test('[TRACE-12] a chain of ten thousand calls is drawn too', async () => {
  const events = Array.from({ length: 10_000 }, (_, i) => call(`t${i}`, i === 0 ? null : `t${i - 1}`)).flat();
  const trace = wholeTrace({ events });
  const { system } = await filled(trace);
  const { out } = await runCommand(['trace', 'show', trace.id], system);
  expect(out.match(/filesystem:read_file/g)?.length).toBe(10_000);
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThan(200);
});

test('[TRACE-13] export writes one line per trace, oldest first, with the requested filters', async () => {
  const traces = [1, 2, 3, 4].map((day) =>
    wholeTrace({ sessionId: day % 2 ? 'odd' : 'even', executedAt: new Date(Date.UTC(2026, 10, day)) }),
  );
  const { system } = await filled(...traces);
  const exported = async (...args: string[]) =>
    (await runCommand(['trace', 'export', ...args], system)).out.split('\n').filter((line) => line !== '');
  const lines = traces.map(lineOf);
  expect(await exported()).toEqual(lines);
  expect(await exported('--limit', '2')).toEqual(lines.slice(2));
  expect(await exported('--session', 'odd')).toEqual([lines[0], lines[2]]);
  expect(await exported('--session', 'odd', '--limit', '1')).toEqual([lines[2]]);
  expect(await exported('--since', '2026-11-03')).toEqual(lines.slice(2));
  expect(await exported('--since', '2026-12-01')).toEqual([]);
  expect((await runCommand(['trace', 'export', '--since', 'soon'], system)).code).toBe(2);
});

test('[TRACE-13] an exported file is complete, readable by its owner only, and replaces nothing without asking', async () => {
  const dir = await temporaryDir();
  const file = join(dir, 'runs.jsonl');
  const { store, system } = await filled(wholeTrace());
  const first = await runCommand(['trace', 'export', file, '--json'], system);
  expect(JSON.parse(first.out)).toEqual({ file, exported: 1 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await runCommand(['trace', 'export', file], system);
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('--force') });
  await store.traces.append(wholeTrace());
  const before = await readFile(file, 'utf8');
  const failing = systemOn({
    ...store,
    traces: { ...store.traces, scan: () => Promise.reject(new Error('gone')) },
  });
  expect((await runCommand(['trace', 'export', file, '--force'], failing)).code).toBe(1);
  expect(await readFile(file, 'utf8')).toBe(before);
  expect((await runCommand(['trace', 'export', file, '--force'], system)).out).toBe(
    `Exported 2 traces to ${file}.\n`,
  );
  expect(await readdir(dir)).toEqual(['runs.jsonl']);
});

test('[TRACE-14] exporting, importing and exporting again gives the same bytes', async () => {
  const dir = await temporaryDir();
  const long = { text: 'x'.repeat(100_000), token: SECRET, list: ['\u0000', '\ud800', '🎈', -0, 1e300] };
  const { system } = await filled(
    wholeTrace(),
    wholeTrace({ code: null, guest: null, sessionId: null, intentText: null, priority: 0.125 }),
    wholeTrace({ events: [] }),
  );
  const file = join(dir, 'a.jsonl');
  const other = createMemoryStore();
  // What a recorder redacted once: values cut, secrets hidden.
  const { out: cut } = await runCommand(['trace', 'import', '-', '--json'], system, {
    input: lineOf({ ...wholeTrace({ taskResults: [long], code: `// ${SECRET}\n${'y'.repeat(70_000)}` }) }),
  });
  expect(JSON.parse(cut)).toMatchObject({ imported: 1 });
  await runCommand(['trace', 'export', file], system);
  const text = await readFile(file, 'utf8');
  expect(text).toContain('[cut ');
  expect(text).not.toContain(SECRET);
  expect((await runCommand(['trace', 'import', file], systemOn(other))).out).toBe('Imported 4 traces.\n');
  expect((await runCommand(['trace', 'export'], systemOn(other))).out).toBe(text);
});

test('[TRACE-15] a line that is not a trace is refused with its number, and does not affect the others', async () => {
  const [known, fresh] = [wholeTrace(), wholeTrace()];
  const { store, system } = await filled(known);
  const input = [
    `\ufeff${lineOf(fresh)}`,
    '',
    '{"id": 3}',
    lineOf(known),
    'nonsense \u001b[2J',
    lineOf(fresh).replace('"success":false', '"success":"no"'),
  ].join('\n');
  const result = await runCommand(['trace', 'import', '-'], system, { input });
  expect(result).toMatchObject({
    code: 1,
    out: 'Imported 1 trace, skipped 1 already present, refused 3 lines.\n',
  });
  expect(result.err.split('\n')).toEqual([
    'line 3: events is missing',
    expect.stringMatching(/^line 5: It is not JSON: .*nonsense \\u001b\[2J/),
    'line 6: success must be true or false, not "no"',
    '',
  ]);
  expect(await store.traces.get(fresh.id)).toEqual(fresh);
  const again = await runCommand(['trace', 'import', '-', '--json'], system, { input: lineOf(fresh) });
  expect(JSON.parse(again.out)).toEqual({ imported: 0, skipped: 1, refused: 0, refusals: [] });
  const missing = await runCommand(['trace', 'import', 'no-such-file.jsonl'], system);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('no-such-file.jsonl') });
});

test('[TRACE-15] imported traces are listed by the time they ran', async () => {
  const at = (day: string) => wholeTrace({ executedAt: new Date(`2026-0${day}T00:00:00Z`) });
  const [newest, oldest, between] = [at('5-03'), at('3-01'), at('4-02')];
  const { system } = await filled(newest);
  await runCommand(['trace', 'import', '-'], system, { input: [oldest, between].map(lineOf).join('\n') });
  const { out } = await runCommand(['trace', 'ls', '--json'], system);
  const { traces } = JSON.parse(out) as { traces: { id: string }[] };
  expect(traces.map(({ id }) => id)).toEqual([newest, between, oldest].map(({ id }) => id));
});

test('[TRACE-15] hundreds of lines, good and bad, are all counted, and the first hundred refusals printed', async () => {
  const { store, system } = await filled();
  const traces = Array.from({ length: 250 }, () => wholeTrace());
  const input = traces.map((trace) => `${lineOf(trace)}\n{}\n`).join('');
  const { err, out } = await runCommand(['trace', 'import', '-'], system, { input, isTty: true });
  expect(out).toBe('Imported 250 traces, refused 250 lines.\n');
  expect(err.match(/^.*line \d+: /gm)?.length).toBe(100);
  expect(err).toContain('and 150 more lines\n');
  expect(await store.traces.count()).toBe(250);
});

test('[TRACE-16] a line cannot contradict its own events, nor bring a secret in', async () => {
  const { store, system } = await filled();
  const honest = wholeTrace({ events: call('a', null) });
  const lie = {
    ...traceToWire(honest),
    executed_path: ['bank:transfer'],
    tool_invocations: [{ id: 'bank:transfer#0', tool: 'bank:transfer', success: true }],
    intent_text: `log in with ${SECRET}`,
    code: `mcp.x.y({ password: "hunter2-hunter2" })`,
    events: [
      { ...traceToWire(honest).events[0], args: { api_key: 'abc' } },
      { ...traceToWire(honest).events[1], result: SECRET, error: `no ${SECRET}` },
    ],
  };
  await runCommand(['trace', 'import', '-'], system, { input: JSON.stringify(lie) });
  const stored = await store.traces.get(honest.id);
  expect(stored).toMatchObject({ executedPath: [read], toolInvocations: honest.toolInvocations });
  expect(JSON.stringify(stored)).not.toMatch(/hush-hush|hunter2|"abc"|bank/);
});

test('[TRACE-17] forget shows what would be deleted, asks, and prints how many were', async () => {
  const traces = [1, 2, 3].map((day) =>
    wholeTrace({
      id: randomUUID(),
      sessionId: day === 1 ? 'first' : 'other',
      executedAt: new Date(Date.UTC(2026, 10, day)),
      events: call('a', null, day === 3 ? mail : read),
    }),
  );
  const [one, two, three] = traces.map(({ id }) => id);
  const { store, system } = await filled(...traces);
  const forget = (args: string[], answer: boolean | null = null) =>
    runCommand(['trace', 'forget', ...args], system, { answer });

  const refused = await forget(['--session', 'other'], false);
  expect(refused).toMatchObject({ code: 0, asked: ['Delete 2 traces?'], out: '' });
  expect(refused.err).toContain(two);
  expect(await forget(['--all'])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(await forget([one!, 'no-such-trace', '--yes'])).toMatchObject({ code: 1 });
  expect(await store.traces.count()).toBe(3);

  expect(await forget([])).toMatchObject({ code: 2 });
  expect(await forget([one!, '--all', '--yes'])).toMatchObject({ code: 2 });
  expect(await forget(['--all', '--session', 'first', '--yes'])).toMatchObject({ code: 2 });
  expect(await store.traces.count()).toBe(3);

  expect((await forget(['--tool', 'bank:*', '--yes'])).out).toBe('No trace matches: nothing was deleted.\n');
  expect((await forget(['--tool', 'mail:*', '--before', '2026-11-03', '--yes', '--json'])).out).toBe(
    '{"forgotten":0,"unfinished_runs":[]}\n',
  );
  const yes = await forget(['--tool', 'mail:*'], true);
  expect(yes.out).toBe('Deleted 1 trace.\n');
  expect(yes.err).toContain('pml graph rebuild');
  expect(await store.traces.get(three!)).toBeNull();
  expect((await forget(['--before', '2026-11-02', '--yes'])).out).toBe('Deleted 1 trace.\n');
  expect((await forget([two!, two!, '--yes', '--json'])).out).toBe('{"forgotten":1,"unfinished_runs":[]}\n');
  expect(await store.traces.count()).toBe(0);
});

test('[TRACE-18] a trace is forgotten with its run, but a waiting run only when its trace is named', async () => {
  const [over, waiting] = [wholeTrace({ runId: 'run-over' }), wholeTrace({ runId: 'run-waiting' })];
  const { store, system } = await filled(over, waiting);
  for (const [runId, status] of [
    ['run-over', 'success'],
    ['run-waiting', 'paused'],
  ] as const) {
    const event = { eventType: 'task_complete', taskId: null, timestamp: new Date(0), data: {} };
    await store.runs.create(sampleRun({ id: runId, status }));
    await store.approvals.request(sampleApproval({ runId, state: status === 'paused' ? 'pending' : 'used' }));
    await store.episodes.append([{ ...event, id: runId, workflowId: runId }]);
  }
  const kept = async () => ({
    runs: (await store.runs.list(9)).map(({ id }) => id),
    approvals: (await store.approvals.list({})).map(({ runId }) => runId),
    episodes: (await Promise.all(['run-over', 'run-waiting'].map(store.episodes.list))).flat().length,
    traces: await store.traces.count(),
  });

  const all = await runCommand(['trace', 'forget', '--all', '--yes'], system);
  expect(all.out).toBe('Deleted 1 trace.\n');
  expect(all.err).toContain('pml runs abort run-waiting');
  expect(await kept()).toEqual({ runs: ['run-waiting'], approvals: ['run-waiting'], episodes: 1, traces: 1 });
  const again = await runCommand(['trace', 'forget', '--all', '--yes', '--json'], system);
  expect(again.out).toBe('{"forgotten":0,"unfinished_runs":["run-waiting"]}\n');

  const named = await runCommand(['trace', 'forget', waiting.id, '--yes'], system);
  expect(named.out).toBe('Deleted 1 trace.\n');
  expect(await kept()).toEqual({ runs: [], approvals: [], episodes: 0, traces: 0 });
});

async function split(pieces: readonly string[], maxLength: number) {
  const stream = (async function* () {
    yield* pieces;
  })();
  return await Array.fromAsync(linesOf(stream, maxLength));
}

test('[TRACE-15] lines are the same however the text is split into chunks', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\ufeff'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (pieces) => {
      const lines = pieces.join('').split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = lines.map((line, i) => ({
        number: i + 1,
        text: i === 0 && line.startsWith('\ufeff') ? line.slice(1) : line,
      }));
      expect(await split(pieces, 1_000)).toEqual(expected);
    }),
    { numRuns: proofRuns(1_000), seed: proofSeed() },
  );
});

test('[TRACE-15] a line that is too long is counted and not stored', async () => {
  expect(await split(['abc\nabcd', 'ef\n', 'ab\n', 'abcdef'], 4)).toEqual([
    { number: 1, text: 'abc' },
    { number: 2, text: null },
    { number: 3, text: 'ab' },
    { number: 4, text: null },
  ]);
});
