import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { canonicalJson } from '../../src/core/policy/call-hash.ts';
import { type ExecutionTrace, traceToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { kindOf } from '../../src/core/vocabulary/ids.ts';
import type { Plan } from '../../src/core/vocabulary/plan.ts';
import { traceFromWire } from '../../src/core/vocabulary/trace-from-wire.ts';
import { tapeOf } from '../../src/engine/code/cassette.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Store } from '../../src/engine/ports.ts';
import type { ForkRequest } from '../../src/engine/runs/run-requests.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { openTestGateway } from '../support/open-test-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, tool } from '../support/test-gateway.ts';

/** A laboratory whose answers are never the same twice, and all that it was asked. */
const asked: string[] = [];
let count = 0;
let tries = 0;
const LAB: MemoryServer = {
  name: 'lab',
  tools: [
    ...['weigh', 'mix', 'heat'].map((name) =>
      tool(name, (args) => {
        asked.push(name);
        return { n: ++count, of: args };
      }),
    ),
    {
      definition: { name: 'shaky', description: 'fails first', inputSchema: { type: 'object' } },
      call: async () => {
        asked.push('shaky');
        const isError = ++tries % 2 === 1;
        return { content: [{ type: 'text', text: isError ? 'try again' : `{"n":${++count}}` }], isError };
      },
    },
    tool('secret', () => ({ password: 'hunter2hunter2' })),
    tool('ask', () => 'done'),
  ],
};
const TWICE = {
  slug: 'twice',
  code: 'const a = await mcp.lab.weigh({ x: args.x }); return [a.n, (await mcp.lab.mix({ x: a.n })).n, Date.now()];',
};
const CODE =
  'const hot = await mcp.lab.heat({ x: Math.random(), n: deps.t2.n }); return { hot: hot.n, dice: Math.random(), now: Date.now() };';

const task = (id: string, more: object): Plan['tasks'][number] =>
  ({ id, arguments: {}, dependsOn: [], ...more }) as unknown as Plan['tasks'][number];
const PLAN: Plan = {
  inputs: [],
  tasks: [
    task('t1', { tool: 'lab:weigh', arguments: { x: 1 } }),
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of plans
    task('t2', { tool: 'lab:mix', arguments: { x: '${t1.n}' }, dependsOn: ['t1'] }),
    task('t3', { code: CODE, dependsOn: ['t2'] }),
    task('t4', { capability: 'twice', arguments: { x: '${t2.n}' }, dependsOn: ['t2'] }),
    task('t5', { tool: 'lab:heat', forEach: '${t4}', arguments: { x: '${item}' }, dependsOn: ['t4'] }),
    task('t6', { tool: 'lab:mix', when: { value: '${t1.n}', less_than: 0 }, dependsOn: ['t1'] }),
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of plans
    task('t7', { tool: 'lab:shaky', idempotent: true, retry: { attempts: 4, delayMs: 1 } }),
  ],
};

let gateway: Gateway;
let store: Store;

beforeAll(async () => {
  const permissions = { ...settingsFor([]).permissions, ask: ['lab:ask'], approvalWaitMs: 20 };
  const opened = await openTestGateway({
    servers: [LAB],
    capabilities: [TWICE],
    sandbox: createSandbox(),
    settings: { permissions },
  });
  ({ gateway, store } = opened);
});
afterAll(() => gateway.close());
beforeEach(() => {
  asked.length = 0;
});

async function recorded(plan: Plan): Promise<ExecutionTrace> {
  const { traceId } = await gateway.executeWorkflow(plan, 'try it', NOBODY);
  await gateway.settled();
  asked.length = 0;
  return (await store.traces.get(traceId!))!;
}

const replayed = (trace: ExecutionTrace) => gateway.replayRun(trace, { against: 'cassette' }, NOBODY);
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    (error: Error) => error.message,
  );
const calls = ({ events }: ExecutionTrace) =>
  tapeOf(events)
    .filter(({ node }) => kindOf(node) === 'tool')
    .map(({ node, args, outcome }) => canonicalJson([node, args, outcome?.success, outcome?.result]));

describe('a workflow', () => {
  test('[TAPE-8] gives the same result each time on its cassette, with programs, lists, conditions and retries', async () => {
    const trace = await recorded(PLAN);
    const states = (trace.taskResults as { id: string; status: string }[]).map(({ status }) => status);
    expect(states).toEqual(['success', 'success', 'success', 'success', 'success', 'skipped', 'success']);
    for (let i = 0; i < 3; i++)
      expect(await replayed(trace)).toMatchObject({ isEqual: true, difference: null, notWhole: [] });
    expect(asked).toEqual([]);
    const { code, out } = await runCommand(['replay', trace.id], {
      openGateway: async () => openedGateway(gateway),
    });
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('Equal: ') });
  });

  test('[TAPE-8] that differs names the task or the call', async () => {
    const trace = await recorded(PLAN);
    const tampered = (change: (task: Record<string, unknown>) => object | null) =>
      (trace.taskResults as Record<string, unknown>[]).map((one) => ({ ...one, ...change(one) }));
    const dice = tampered(({ id }) => (id === 't3' ? { result: { hot: 0, dice: 0, now: 0 } } : null));
    expect((await replayed({ ...trace, taskResults: dice })).difference).toMatchObject({
      what: 'result',
      call: 't3',
      path: 'hot',
    });
    const events = trace.events.map((event) =>
      event.type === 'tool_start' && event.node === 'lab:mix' ? { ...event, args: { x: -1 } } : event,
    );
    expect((await replayed({ ...trace, events })).difference).toMatchObject({
      what: 'arguments',
      call: 'lab:mix#0',
      path: 'x',
      recorded: -1,
    });
    expect(asked).toEqual([]);
  });

  test('[TAPE-9] whose past cannot be repeated is refused with the reason', async () => {
    const trace = await recorded({ inputs: [], tasks: [task('t1', { tool: 'lab:weigh' })] });
    expect(await refused(replayed({ ...trace, runId: 'gone' }))).toContain('its plan is no longer stored');
    const earlier = trace.taskResults.map((one) => ({ ...(one as object), earlier: true }));
    expect(await refused(replayed({ ...trace, taskResults: earlier }))).toContain(
      'it was resumed after a pause, and the calls of t1 are in an earlier trace',
    );
    expect(await refused(gateway.replayRun(trace, { against: 'live' }, NOBODY))).toContain(
      'it is a workflow',
    );
    expect(await refused(gateway.forkRun(trace, { at: 'lab:weigh#0', code: 'return 1' }, NOBODY))).toContain(
      'has no program to replace',
    );
    const asks = [task('t1', { tool: 'lab:weigh' }), task('t2', { tool: 'lab:ask', dependsOn: ['t1'] })];
    const asking = await recorded({ inputs: [], tasks: asks });
    expect(await refused(replayed(asking))).toContain('it was stopped before its end: t2 is waiting');
    const secret = { password: 'hunter2hunter2' };
    const hidden = await recorded({
      inputs: [],
      tasks: [task('t1', { tool: 'lab:weigh', arguments: secret })],
    });
    expect(await refused(replayed(hidden))).toContain('task t1 contained secrets');
    const programs = (await recorded(PLAN)).taskResults.map((one) => {
      const { programs: _, ...rest } = one as { programs?: unknown };
      return rest;
    });
    const old = { ...(await recorded(PLAN)), taskResults: programs };
    expect(await refused(replayed(old))).toContain('the clock and the random numbers of t3 were not stored');
    expect(asked).toEqual([]);
  });

  test('[FORK-7] is rerun from one of its calls: earlier calls are answered from the trace', async () => {
    const trace = await recorded(PLAN);
    const forked = async (fork: ForkRequest) => {
      const run = await gateway.forkRun(trace, fork, NOBODY);
      await gateway.settled();
      return { run, trace: (await store.traces.get(run.traceId!))! };
    };
    const index = (node: string) => tapeOf(trace.events).findIndex(({ id }) => id === node);
    const edited = await forked({ at: 'lab:mix#0', set: { result: { n: 'edited' } } });
    expect(edited.run.status).toBe('success');
    expect(edited.trace).toMatchObject({ origin: 'fork', success: true });
    // The recording shows whether "shaky" had answered by then.
    expect(asked.filter((name) => name === 'weigh')).toHaveLength(1);
    expect(edited.run.results.t2).toMatchObject({ result: { n: 'edited' } });
    expect(edited.run.results.t4).toMatchObject({ status: 'success' });
    asked.length = 0;

    const inside = await forked({ at: 'lab:heat#0' });
    expect(inside.run.status).toBe('success');
    const before = tapeOf(trace.events).slice(0, index('lab:heat#0'));
    const prefix = before
      .filter(({ node }) => kindOf(node) === 'tool')
      .map(({ node, args, outcome }) => canonicalJson([node, args, outcome?.success, outcome?.result]));
    for (const call of prefix) expect(calls(inside.trace)).toContain(call);
    const heated = tapeOf(inside.trace.events).map(({ args }) => args);
    expect(heated).toContainEqual(tapeOf(trace.events)[index('lab:heat#0')]!.args);
    asked.length = 0;
    const { code, out } = await runCommand(['runs', 'fork', trace.runId, '--at', 'lab:shaky#0'], {
      openGateway: async () => openedGateway(gateway),
    });
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(out)).sort()).toEqual(['t1', 't2', 't3', 't4', 't5', 't7']);
  });
});

test('[TAPE-10] an earlier result that a program read is stored with the trace, and read again in a replay', async () => {
  const code = `
const big = await mcp.pml.read_result({ id: 'r1' });
let failure; try { await mcp.pml.read_result({ id: 'none' }) } catch (error) { failure = [error.code, error.message] }
const { n } = await mcp.lab.weigh({ x: big.n });
return { n, big, failure, now: Date.now() };`;
  let reads = 0;
  const readResult = (id: string) => {
    if (id !== 'r1') throw new Error(`No result ${id}`);
    return { n: ++reads };
  };
  const run = await gateway.executeCode({ code }, { ...NOBODY, readResult });
  expect(run).toMatchObject({ status: 'success', result: { big: { n: 1 } } });
  const trace = (await store.traces.get(run.traceId!))!;
  expect(Object.values(trace.guest?.results ?? {})).toMatchObject([
    { id: 'r1', reply: { ok: true, value: { n: 1 } } },
    { id: 'none', reply: { ok: false } },
  ]);
  asked.length = 0;
  expect(await replayed(trace)).toMatchObject({ isEqual: true });
  expect(await replayed({ ...trace, ...traceFromWire(traceToWire(trace)) })).toMatchObject({ isEqual: true });
  expect(asked).toEqual([]);
  const forked = await gateway.forkRun(trace, { at: 'lab:weigh#0' }, NOBODY);
  expect(forked.result).toMatchObject({ big: { n: 1 } });
  const results = { '#0': { id: 'r1' } };
  const hidden = { ...trace, guest: { ...trace.guest!, results } };
  expect(await refused(replayed(hidden))).toContain('it read an earlier result, which was not recorded');
});

test('[TAPE-10] nothing of it is stored where results of a tool must not be', async () => {
  const record = [{ tools: 'lab:secret', keep: 'metadata' as const }];
  const opened = await openTestGateway({ servers: [LAB], settings: { record } });
  const code = "const { n } = await mcp.pml.read_result({ id: 'r1' }); return n > 40;";
  const run = await opened.gateway.executeCode({ code }, { ...NOBODY, readResult: () => ({ n: 41 }) });
  const trace = (await opened.store.traces.get(run.traceId!))!;
  expect(Object.values(trace.guest?.results ?? {})).toEqual([{ id: 'r1' }]);
  await opened.gateway.close();
});
