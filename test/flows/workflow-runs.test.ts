import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { capabilityNode, toolId } from '../../src/core/vocabulary/ids.ts';
import type { Plan } from '../../src/core/vocabulary/plan.ts';
import { isEnd } from '../../src/core/vocabulary/trace-event.ts';
import type { Caller, Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { type LooseTask, planOf } from '../support/workflow-plan.ts';

const run = (gateway: Gateway, tasks: readonly LooseTask[], over?: Partial<Plan>, caller: Caller = NOBODY) =>
  gateway.executeWorkflow(planOf(tasks, over), 'try it', caller);

const READS = { annotations: { readOnlyHint: true } };

/** Tools that record when they begin and end; held ones end when they are released. */
function workshop() {
  const log: string[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const held = Promise.withResolvers<void>();
  const work = async ({ name, ms = 0, isHeld, gives }: JsonObject) => {
    atOnce++;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    log.push(`+${name}`);
    await (isHeld === true ? held.promise : setTimeout(Number(ms)));
    log.push(`-${name}`);
    atOnce--;
    return gives ?? name;
  };
  const server = { name: 'work', tools: [tool('do', work), tool('look', work, READS)] };
  return { log, server, most: () => mostAtOnce, letGo: held.resolve };
}

test('[FLOW-4] a task starts as soon as its dependencies are done, whatever else is active', async () => {
  const { log, server, letGo } = workshop();
  const { gateway } = await testGateway({ servers: [server] });
  const running = run(gateway, [
    { id: 'slow', tool: 'work:do', arguments: { name: 'slow', isHeld: true } },
    { id: 'quick', tool: 'work:do', arguments: { name: 'quick' } },
    { id: 'next', tool: 'work:do', arguments: { name: 'next' }, dependsOn: ['quick'] },
  ]);
  await expect.poll(() => log).toContain('-next');
  expect(log).not.toContain('-slow');
  letGo();
  expect(await running).toMatchObject({ status: 'success', layers: [['slow', 'quick'], ['next']] });
});

test('[FLOW-4] no more tasks are active at once than the plan allows', async () => {
  const { server, most } = workshop();
  const { gateway } = await testGateway({ servers: [server] });
  const tasks = Array.from({ length: 9 }, (_, i) => ({
    id: `t${i}`,
    tool: 'work:do',
    arguments: { name: i, ms: 5 },
  }));
  expect((await run(gateway, tasks, { concurrency: 2 })).status).toBe('success');
  expect(most()).toBe(2);
});

test('[FLOW-5] tasks are tools, capabilities and code; code sees the results before it, and its calls are below it in the trace', async () => {
  const { server } = workshop();
  const capability = {
    id: '0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11',
    slug: 'twice',
    code: 'const a = await mcp.work.look({ name: args.n }); return [a, a];',
  };
  const { gateway, store } = await testGateway({ servers: [server], capabilities: [capability] });
  const done = await run(gateway, [
    { id: 'a', tool: 'work:look', arguments: { gives: { n: 2 } } },
    { id: 'b', capability: 'twice', arguments: { n: '${a.n}' } },
    {
      id: 'c',
      code: 'const own = await mcp.work.look({ name: "own" }); return { sum: deps.a.n + args.more, own, b: deps.b };',
      arguments: { more: 3 },
      dependsOn: ['a', 'b'],
    },
    { id: 'd', code: 'return deps.c.sum * 2', name: 'double', dependsOn: ['c'] },
    { id: 'e', code: 'return deps.d', name: 'filter', dependsOn: ['d'] },
  ]);
  expect(done).toMatchObject({
    status: 'success',
    results: {
      b: { result: [2, 2] },
      c: { result: { sum: 5, own: 'own', b: [2, 2] } },
      d: { status: 'success', result: 10 },
    },
  });
  await gateway.settled();
  const [trace] = await store.traces.list({ limit: 1 });
  const starts = trace!.events.filter((event) => !isEnd(event));
  const nodeOf = new Map(starts.map(({ traceId, node }) => [traceId, node]));
  const parents = starts.map(({ node, parentTraceId }) => [node, nodeOf.get(parentTraceId ?? '') ?? null]);
  const look = toolId('work', 'look');
  expect(
    parents.filter(
      ([node]) => !String(node).startsWith('code:') || /code:(task|double|filter)/.test(String(node)),
    ),
  ).toEqual([
    [look, null],
    [capabilityNode(capability.id), null],
    [look, capabilityNode(capability.id)],
    ['code:task', null],
    [look, 'code:task'],
    ['code:double', null],
    // What every program does is another node.
    ['code:task.filter', null],
  ]);
});

test('[FLOW-6] a task that takes too long fails; a repeatable one is retried, others are not', async () => {
  let calls = 0;
  const flaky = () => {
    calls++;
    if (calls < 3) throw new Error('connection reset by peer');
    return calls;
  };
  const failing = { ...tool('flaky', flaky, READS) };
  const server = {
    name: 'net',
    tools: [
      {
        ...failing,
        call: async () => {
          try {
            return { content: [{ type: 'text' as const, text: String(flaky()) }] };
          } catch (error) {
            return { isError: true, content: [{ type: 'text' as const, text: String(error) }] };
          }
        },
      },
      tool('hang', () => setTimeout(5_000)),
    ],
  };
  const { gateway } = await testGateway({ servers: [server] });
  const retry = { attempts: 3, delayMs: 1 };
  const done = await run(gateway, [
    { id: 'a', tool: 'net:flaky', retry },
    { id: 'b', tool: 'net:hang', timeoutMs: 20 },
  ]);
  expect(done).toMatchObject({
    status: 'error',
    results: {
      a: { status: 'success', result: 3 },
      b: { status: 'error', error: { code: 'upstream_timeout' } },
    },
  });
  await expect(run(gateway, [{ id: 'b', tool: 'net:hang', retry }])).rejects.toThrow(/cannot be retried/);
  calls = 0;
  expect(await run(gateway, [{ id: 'a', tool: 'net:flaky' }])).toMatchObject({ status: 'error' });
  expect(calls).toBe(1);
});

test('[FLOW-7] a task runs once per list item, in parallel, and returns a list; failed items are reported', async () => {
  const { server } = workshop();
  const check = tool('check', ({ n }) => {
    if (n === 2) throw new Error('two is bad');
    return Number(n) * 10;
  });
  const { gateway } = await testGateway({ servers: [server, { name: 'n', tools: [check] }] });
  const list = { id: 'list', tool: 'work:do', arguments: { gives: [{ n: 1 }, { n: 3 }] } };
  const each = {
    id: 'each',
    tool: 'n:check',
    forEach: '${list}',
    arguments: { n: '${item.n}', at: '${index}' },
  };
  const sum = { id: 'sum', code: 'return args.all[0] + args.all[1]', arguments: { all: '${each}' } };
  expect(await run(gateway, [list, each, sum])).toMatchObject({
    status: 'success',
    results: { each: { status: 'success', items: 2, result: [10, 30] }, sum: { result: 40 } },
  });
  const bad = { ...each, forEach: [{ n: 1 }, { n: 2 }] };
  expect(await run(gateway, [bad, { ...sum, dependsOn: ['each'] }])).toMatchObject({
    status: 'error',
    results: {
      each: {
        status: 'error',
        error: { message: expect.stringMatching(/^1 of 2 items failed; each\[1\]: /) },
      },
      'each[0]': { status: 'success', result: 10 },
      'each[1]': { status: 'error' },
      sum: { status: 'skipped', because: 'each gave no result' },
    },
  });
  const none = await run(gateway, [{ ...each, forEach: [] }]);
  expect(none).toMatchObject({ status: 'success', results: { each: { result: [] } } });
  const nolist = await run(gateway, [{ ...list, arguments: { gives: 7 } }, each]);
  expect(nolist.results.each).toMatchObject({ error: { message: 'for_each of each is not a list' } });
});

test('[FLOW-8] a false condition skips the task and its dependents, and is not a failure', async () => {
  const { server } = workshop();
  const { gateway } = await testGateway({ servers: [server] });
  const when = (at_least: number) => ({ value: '${a.n}', at_least });
  const done = await run(gateway, [
    { id: 'a', tool: 'work:do', arguments: { gives: { n: 5 } } },
    { id: 'many', tool: 'work:do', arguments: { name: 'many' }, when: when(9) },
    { id: 'few', tool: 'work:do', arguments: { name: 'few' }, when: { not: when(9) } },
    { id: 'uses', tool: 'work:do', arguments: { name: '${many}' } },
    { id: 'join', code: 'return Object.keys(deps)', dependsOn: ['many', 'few'] },
  ]);
  expect(done).toMatchObject({
    status: 'success',
    results: {
      many: { status: 'skipped', because: 'its condition does not hold' },
      few: { status: 'success' },
      uses: { status: 'skipped', because: 'many was skipped' },
      join: { status: 'success', result: ['few'] },
    },
  });
});

test('[FLOW-9] an executed plan leaves dependency edges between what its tasks ran, also across a pause', async () => {
  const { server } = workshop();
  const { permissions } = (await testGateway()).gateway.settings();
  const settings = { permissions: { ...permissions, ask: ['work:do'], approvalWaitMs: 1 } };
  const { gateway, store } = await testGateway({ servers: [server], settings });
  const paused = await run(gateway, [
    { id: 'a', tool: 'work:look', arguments: { name: 'a' } },
    { id: 'b', code: 'return 1', name: 'between', dependsOn: ['a'] },
    { id: 'c', tool: 'work:do', arguments: { name: 'c' }, dependsOn: ['b'] },
  ]);
  expect(paused.status).toBe('approval_required');
  await gateway.settleApproval(paused.runId, 'approved', 'ana');
  const resumed = await gateway.continueRun(paused.runId, 'resume', NOBODY);
  expect(resumed).toMatchObject({ status: 'success', results: { a: { result: 'a' }, c: { result: 'c' } } });
  await gateway.settled();
  const { edges } = await store.graph.read();
  const dependencies = edges.filter(({ type }) => type === 'dependency');
  expect(dependencies.map(({ from, to, observedCount }) => [from, to, observedCount])).toEqual([
    ['code:between', 'work:do', 1],
    ['work:look', 'code:between', 1],
  ]);
});

test('[FLOW-22] a workflow that is started again under its run id is the same run', async () => {
  const { log, server, letGo } = workshop();
  const { gateway, store } = await testGateway({ servers: [server] });
  const plan = planOf([{ id: 'a', tool: 'work:do', arguments: { name: 'a', isHeld: true } }]);
  const start = () => gateway.executeWorkflow(plan, null, NOBODY, 'run-1');
  const both = [start(), start()];
  expect(await Promise.race(both)).toMatchObject({ status: 'running' });
  letGo();
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual(['running', 'success']);
  expect(await start()).toMatchObject({ status: 'success', runId: 'run-1', results: { a: { result: 'a' } } });
  expect(log).toEqual(['+a', '-a']);
  expect(await store.runs.list(9)).toHaveLength(1);
  const other = planOf([{ id: 'b', tool: 'work:do' }]);
  await expect(gateway.executeWorkflow(other, null, NOBODY, 'run-1')).rejects.toThrow(/another workflow/);
});

test('[FLOW-23] a cancelled run starts nothing more, and says so', async () => {
  const { log, server } = workshop();
  const { gateway, store } = await testGateway({ servers: [server] });
  const cancelling = new AbortController();
  const running = run(
    gateway,
    [
      { id: 'a', tool: 'work:do', arguments: { name: 'a', isHeld: true } },
      { id: 'b', tool: 'work:do', arguments: { name: 'b' }, dependsOn: ['a'] },
    ],
    {},
    { sessionId: null, signal: cancelling.signal },
  );
  await expect.poll(() => log).toEqual(['+a']);
  cancelling.abort();
  const cancelled = await running;
  expect(cancelled).toMatchObject({
    status: 'aborted',
    error: { code: 'cancelled' },
    results: { a: { status: 'error' }, b: { status: 'skipped' } },
  });
  expect((await store.runs.get(cancelled.runId))?.status).toBe('aborted');
  expect(log).not.toContain('+b');
});

test('[FLOW-23] progress is reported task by task', async () => {
  const { server } = workshop();
  const { gateway } = await testGateway({ servers: [server] });
  const told: unknown[] = [];
  const tasks = ['a', 'b'].map((id) => ({ id, tool: 'work:do', arguments: { name: id } }));
  await run(gateway, tasks, {}, { sessionId: null, onProgress: (progress) => told.push(progress) });
  expect(told.at(-1)).toEqual({ progress: 2, total: 2 });
});
