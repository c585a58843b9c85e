import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numeric/random.ts';
import { canonicalJson } from '../../src/core/policy/call-hash.ts';
import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import { kindOf } from '../../src/core/vocabulary/ids.ts';
import { type TapedCall, tapeOf } from '../../src/engine/code/cassette.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject, Store } from '../../src/engine/ports.ts';
import type { ForkRequest } from '../../src/engine/runs/run-requests.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { openTestGateway } from '../support/open-test-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, tool } from '../support/test-gateway.ts';

const asked: string[] = [];
let count = 0;
const lab: MemoryServer = {
  name: 'lab',
  tools: [
    ...['weigh', 'mix', 'heat'].map((name) =>
      tool(name, (args) => {
        asked.push(`${name} ${JSON.stringify(args)}`);
        // Never the same twice, and never a number that a limit would stop.
        return { n: ++count % 5, list: Array.from({ length: count % 4 }, (_, i) => i), of: args };
      }),
    ),
    tool('secret', () => ({ password: 'hunter2hunter2' })),
    tool('ask', () => 'done'),
  ],
};
const HELPER = {
  slug: 'twice',
  code: 'const a = await mcp.lab.weigh({ x: args.x }); const b = await mcp.lab.mix({ x: a.n }); return [a.n, b.n];',
};

let gateway: Gateway;
let store: Store;

async function open(enabled: boolean): Promise<void> {
  const permissions = { ...settingsFor([]).permissions, ask: ['lab:ask'], approvalWaitMs: 20 };
  const settings = { permissions, learning: { enabled } };
  const opened = await openTestGateway({ servers: [lab], capabilities: [HELPER], settings });
  ({ gateway, store } = opened);
}

beforeAll(() => open(true));
afterAll(() => gateway.close());
beforeEach(() => {
  asked.length = 0;
});

async function recorded(code: string, args: JsonObject = {}): Promise<ExecutionTrace> {
  const run = await gateway.executeCode({ code, arguments: args, intent: 'try it' }, NOBODY);
  asked.length = 0;
  return (await store.traces.get(run.traceId!))!;
}

async function forked(trace: ExecutionTrace, fork: ForkRequest) {
  const run = await gateway.forkRun(trace, fork, NOBODY);
  return { run, trace: (await store.traces.get(run.traceId ?? ''))! };
}

const told = ({ node, args, outcome }: TapedCall) =>
  canonicalJson([node, args, outcome?.success, outcome?.result, outcome?.error]);
const toolCalls = ({ events }: ExecutionTrace) =>
  tapeOf(events).filter(({ node }) => kindOf(node) === 'tool');

const THREE = `
const a = await mcp.lab.weigh({ x: Math.random() });
const b = await mcp.lab.mix({ x: a.n, at: Date.now() });
const c = await mcp.lab.heat({ x: b.n });
return { a: a.n, b: b.n, c: c.of.x };`;

describe('a fork', () => {
  test('[FORK-1] answers earlier calls from the trace, then uses an edited result, and makes the remaining calls', async () => {
    const trace = await recorded(THREE);
    const { run, trace: made } = await forked(trace, { at: 'lab:mix#0', set: { result: { n: 'edited' } } });
    expect(run).toMatchObject({ status: 'success', result: { b: 'edited', c: 'edited' } });
    expect(asked).toEqual(['heat {"x":"edited"}']);
    expect(toolCalls(made).slice(0, 1).map(told)).toEqual(toolCalls(trace).slice(0, 1).map(told));
    expect(made).toMatchObject({ origin: 'fork', intentText: 'try it', guest: { seed: trace.guest!.seed } });
  });

  test('[FORK-1] makes the call with edited arguments, or as it was', async () => {
    const trace = await recorded(THREE);
    await forked(trace, { at: toolCalls(trace)[2]!.traceId, set: { arguments: { x: 41 } } });
    expect(asked).toEqual(['heat {"x":41}']);
    asked.length = 0;
    await forked(trace, { at: 'lab:heat#0' });
    expect(asked).toEqual([`heat {"x":${(trace.taskResults[0] as { result: { b: number } }).result.b}}`]);
  });

  test('[FORK-2] runs other code, whose past must be the same; otherwise nothing is called', async () => {
    const trace = await recorded(THREE);
    const more = await forked(trace, {
      at: 'lab:heat#0',
      code: THREE.replace('x: b.n }', 'x: b.n, more: true }'),
    });
    expect(more.run.status).toBe('success');
    expect(asked).toHaveLength(1);
    asked.length = 0;
    const other = await forked(trace, { at: 'lab:heat#0', code: THREE.replace('x: a.n', 'x: a.n + 1') });
    expect(other.run).toMatchObject({ status: 'error', error: { code: 'replay_differs' } });
    expect(other.run.error?.message).toContain('lab:mix#0 with different arguments at x');
    expect(asked).toEqual([]);
  });

  test('[FORK-2] an incomplete past and an unknown call are refused', async () => {
    const refused = async (trace: ExecutionTrace, fork: ForkRequest) =>
      await forked(trace, fork).then(
        () => 'forked',
        (error: Error & { hint?: string }) => `${error.message} ${error.hint ?? ''}`,
      );
    const secret = await recorded('const s = await mcp.lab.secret({}); return await mcp.lab.heat({ x: 1 });');
    expect(await refused(secret, { at: 'lab:heat#0' })).toContain(
      'the result of lab:secret#0 was stored redacted',
    );
    expect(await refused(secret, { at: 'lab:secret#0' })).toBe('forked');
    expect(await refused(secret, { at: 'lab:none#0' })).toContain('Its calls: lab:secret#0, lab:heat#0.');
    const asking = await recorded('return await mcp.lab.weigh({ x: 1 })');
    const events = asking.events.map((event) => ({ ...event, node: 'lab:ask' as never }));
    expect(await refused({ ...asking, events }, { at: 'lab:ask#0', set: { arguments: {} } })).toContain(
      'cannot be given other arguments',
    );
    const plan = { ...asking, code: null, guest: null, taskResults: [{ id: 't' }] };
    expect(await refused(plan, { at: 'lab:weigh#0' })).toContain('its plan is no longer stored');
  });

  test('[FORK-3] applies the policy to the calls it makes, waits for a person and continues with the same past', async () => {
    const code =
      'const a = await mcp.lab.weigh({ x: 1 }); const b = await mcp.lab.mix({ x: a.n }); return [b.n, await mcp.lab.ask({ n: b.n })];';
    const first = await gateway.executeCode({ code }, NOBODY);
    const trace = (await store.traces.get(first.traceId!))!;
    asked.length = 0;
    const { run } = await forked(trace, { at: 'lab:mix#0', set: { result: { n: 'edited' } } });
    expect(run).toMatchObject({ status: 'approval_required', approvals: [{ arguments: { n: 'edited' } }] });
    await gateway.settleApproval(run.runId, 'approved', 'test');
    const resumed = await gateway.continueRun(run.runId, 'resume', NOBODY);
    expect(resumed).toMatchObject({ status: 'success', results: { call: { result: ['edited', 'done'] } } });
    expect(asked).toEqual([]);
  });

  test('[FORK-4] teaches nothing: neither routines nor the graph include it', async () => {
    const trace = await recorded(
      'const a = await mcp.lab.heat({ x: 1 }); return [await mcp.lab.weigh({ x: a.n })].map((b) => b.n);',
    );
    await gateway.settled();
    const before = JSON.stringify([(await gateway.graph.view()).edges, await gateway.capabilities.list()]);
    for (let i = 0; i < 3; i++) await forked(trace, { at: 'lab:weigh#0', set: { result: { n: 'made up' } } });
    await gateway.settled();
    expect(JSON.stringify([(await gateway.graph.view()).edges, await gateway.capabilities.list()])).toBe(
      before,
    );
  });
});

test('[FORK-5] "pml runs fork" runs it, with JSON or a file, and reports errors', async () => {
  const trace = await recorded(THREE);
  const system = { openGateway: async () => openedGateway(gateway) };
  const set = JSON.stringify({ result: { n: 'edited' } });
  const made = await runCommand(
    ['runs', 'fork', trace.runId, '--at', 'lab:mix#0', '--set', set, '--json'],
    system,
  );
  expect(made.code).toBe(0);
  expect(JSON.parse(made.out)).toMatchObject({ status: 'success', result: { b: 'edited' } });
  const file = join(await mkdtemp(join(tmpdir(), 'pml-fork-')), 'other.ts');
  await writeFile(file, 'return await mcp.lab.heat({ x: 1 })');
  const differs = await runCommand(['runs', 'fork', trace.id, '--at', 'lab:heat#0', '--code', file], system);
  expect(differs).toMatchObject({ code: 1, err: expect.stringContaining('lab:heat instead of lab:weigh') });
  const wrong = await runCommand(
    ['runs', 'fork', trace.id, '--at', 'lab:heat#0', '--set', '{"x": 1}'],
    system,
  );
  expect(wrong.code).toBe(1);
  const gone = await runCommand(['runs', 'fork', 'none', '--at', 'lab:heat#0'], system);
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('pml trace ls') });
});

test('[FORK-1] in random programs, with parallel calls and capabilities, the past is the same call for call', async () => {
  await gateway.close();
  await open(false);
  const random = createRandom(proofSeed());
  const upTo = (n: number) => Math.floor(random.next() * n);
  const toolName = () => ['weigh', 'mix', 'heat'][upTo(3)];
  const value = () =>
    ['s.length', 'Math.random()', 'Date.now()', 's.at(-1)?.n ?? 0', String(upTo(9))][upTo(5)];
  const call = () =>
    upTo(5) === 0 ? `capabilities.twice({ x: ${value()} })` : `mcp.lab.${toolName()}({ x: ${value()} })`;
  const statement = (): string => {
    const kind = upTo(4);
    if (kind === 0) return `s.push(...await Promise.all([${call()}, ${call()}, ${call()}]));`;
    if (kind === 1)
      return `for (const i of s.at(-1)?.list ?? [1, 2]) s.push(await mcp.lab.${toolName()}({ i, x: ${value()} }));`;
    if (kind === 2)
      return `if ((s.at(-1)?.n ?? 1) > 1) s.push(await ${call()}); else s.push(await ${call()});`;
    return `s.push(await ${call()});`;
  };
  for (let i = 0; i < proofRuns(1_000); i++) {
    const code = `const s = []; ${Array.from({ length: 2 + upTo(4) }, statement).join('\n')} return JSON.stringify(s);`;
    const trace = await recorded(code);
    const calls = toolCalls(trace);
    const place = upTo(calls.length);
    const at = calls[place]!;
    const sets: ForkRequest['set'][] = [
      undefined,
      { result: { n: 3, list: [1] } },
      { arguments: { x: 'other' } },
    ];
    const set = sets[upTo(3)];
    const { run, trace: made } = await forked(trace, { at: at.id, ...(set && { set }) });
    expect(run.error, code).toBeUndefined();
    const now = toolCalls(made);
    const left = now.map(told);
    for (const before of calls.slice(0, place)) {
      const found = left.indexOf(told(before));
      expect(found, `fork ${i} at ${at.id}: ${before.id}`).toBeGreaterThanOrEqual(0);
      left.splice(found, 1);
    }
    // What is left was made now, but for a result that was given.
    expect(asked.length, code).toBe(left.length - (set && 'result' in set ? 1 : 0));
    const before = Object.entries(trace.guest?.answers ?? {}).slice(0, 1);
    if (place > 0) expect(made.guest?.answers).toMatchObject(Object.fromEntries(before));
  }
});
