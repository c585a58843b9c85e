import { expect, test } from 'vitest';
import type { Caller } from '../../src/engine/gateway.ts';
import type { JsonObject, Settings } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { approve } from '../support/workflow-office.ts';
import { type LooseTask, planOf } from '../support/workflow-plan.ts';

const { permissions } = settingsFor([]);
const READS = { annotations: { readOnlyHint: true } };

/** A shelf where `find` waits until it is let go; what was called, in order. */
async function shelf(settings: Partial<Settings> = { workflow: { speculation: 8 } }) {
  const store = createMemoryStore();
  const calls: string[] = [];
  const seenStates: unknown[] = [];
  let found: unknown = { name: 'atlas' };
  let gate = Promise.withResolvers<void>();
  const say = (what: string, args: JsonObject) =>
    calls.push(`${what} ${args.name ?? args.path ?? ''}`.trim());
  const tools = [
    tool(
      'find',
      async (args) => {
        say('find', args);
        await gate.promise;
        return found;
      },
      READS,
    ),
    tool(
      'read',
      async (args) => {
        say('read', args);
        const [run] = await store.runs.list(1);
        seenStates.push(run?.tasks);
        return { text: `all about ${args.name}` };
      },
      READS,
    ),
    tool('touch', (args) => void say('touch', args), { annotations: { idempotentHint: true } }),
    tool('write', (args) => void say('write', args)),
    tool('peek', (args) => void say('peek', args), READS),
  ];
  const { gateway } = await testGateway({ servers: [{ name: 'shelf', tools }], settings, store });
  return {
    gateway,
    store,
    calls,
    seenStates,
    run: (tasks: readonly LooseTask[], over = {}, caller: Caller = NOBODY) =>
      gateway.executeWorkflow(planOf(tasks, over), 'look it up', caller),
    finds(next: unknown) {
      found = next;
      gate = Promise.withResolvers();
    },
    letGo: () => gate.resolve(),
  };
}

const find: LooseTask = { id: 'find', tool: 'shelf:find' };
const read = (more: Partial<LooseTask> = {}): LooseTask => ({
  id: 'read',
  tool: 'shelf:read',
  arguments: { name: 'atlas' },
  dependsOn: ['find'],
  ...more,
});

test('[FLOW-29] while a task runs, the next one reads ahead; if reached with the same arguments, its result is used', async () => {
  const { gateway, store, calls, seenStates, run, letGo } = await shelf();
  const running = run([find, read({ when: '${find.name}' })]);
  await expect.poll(() => calls).toEqual(['find', 'read atlas']);
  letGo();
  const { status, results, runId } = await running;
  expect(status).toBe('success');
  expect(results).toMatchObject({ read: { status: 'success', result: { text: 'all about atlas' } } });
  expect(calls).toEqual(['find', 'read atlas']);
  // Its start was in the store before the call was made.
  expect(seenStates).toMatchObject([{ '~read': { status: 'ahead' } }]);
  expect((await store.runs.get(runId))?.tasks).toMatchObject({ '~read': { used: true } });
  await gateway.settled();
  const episodes = await store.episodes.list(runId);
  expect(episodes.filter(({ eventType }) => eventType === 'speculation_start')).toMatchObject([
    { taskId: 'read', data: { tool: 'shelf:read', arguments: { name: 'atlas' } } },
  ]);
  expect((await gateway.stats()).speculation).toEqual({ started: 1, used: 1 });
  const known = { openGateway: async () => openedGateway(gateway) };
  expect((await runCommand(['runs', 'show', runId], known)).out).toContain('1 call ran ahead, 1 used\n');
  expect(JSON.parse((await runCommand(['runs', 'show', runId, '--json'], known)).out)).toMatchObject({
    ahead: { started: 1, used: 1 },
  });
  const [trace] = await store.traces.list({ limit: 1 });
  expect(trace?.executedPath).toEqual(['shelf:find', 'shelf:read']);
});

test('[FLOW-33] an unneeded result is discarded, and is not part of the run', async () => {
  const { gateway, store, calls, run, finds, letGo } = await shelf();
  finds({ name: null });
  const running = run([find, read({ when: '${find.name}' })]);
  await expect.poll(() => calls).toEqual(['find', 'read atlas']);
  letGo();
  expect((await running).results).toMatchObject({ read: { status: 'skipped' } });
  await gateway.settled();
  expect((await gateway.stats()).speculation).toEqual({ started: 1, used: 0 });
  const [trace] = await store.traces.list({ limit: 1 });
  expect(trace?.executedPath).toEqual(['shelf:find']);
});

test('[FLOW-30] arguments are guessed from the last run of the same work; a wrong guess changes nothing', async () => {
  const { gateway, calls, run, finds, letGo } = await shelf();
  const chain = [find, read({ arguments: { name: '${find.name}' } })];
  letGo();
  expect((await run(chain)).status).toBe('success');
  calls.length = 0;
  finds({ name: 'atlas' });
  const right = run(chain);
  await expect.poll(() => calls).toEqual(['find', 'read atlas']);
  letGo();
  expect((await right).results).toMatchObject({ read: { result: { text: 'all about atlas' } } });
  expect(calls).toEqual(['find', 'read atlas']);
  finds({ name: 'globe' });
  const wrong = run(chain);
  await expect.poll(() => calls).toHaveLength(4);
  letGo();
  expect((await wrong).results).toMatchObject({ read: { result: { text: 'all about globe' } } });
  expect(calls.slice(2)).toEqual(['find', 'read atlas', 'read globe']);
  expect((await gateway.stats()).speculation).toEqual({ started: 2, used: 1 });
});

test('[FLOW-30] calls are never guessed from results of another user', async () => {
  const { gateway, calls, run, finds, letGo } = await shelf();
  const as = (user: string): Caller => ({
    sessionId: null,
    who: { name: user, user, role: 'agent', keyId: user },
  });
  const chain = [find, read({ arguments: { name: '${find.name}' } })];
  letGo();
  expect((await run(chain, {}, as('ada'))).status).toBe('success');
  finds({ name: 'atlas' });
  const [theirs, own] = [run(chain, {}, as('bob')), run(chain, {}, as('ada'))];
  await expect.poll(() => calls.filter((call) => call === 'find')).toHaveLength(3);
  await expect.poll(() => calls.filter((call) => call === 'read atlas')).toHaveLength(2);
  letGo();
  await Promise.all([theirs, own]);
  expect((await gateway.stats()).speculation).toEqual({ started: 1, used: 1 });
});

test('[FLOW-31] nothing runs ahead that is not read-only, asks, or follows a possible change', async () => {
  const asking = { ...permissions, ask: ['shelf:peek'], approvalWaitMs: 1 };
  const { calls, run, letGo } = await shelf({ permissions: asking, workflow: { speculation: 8 } });
  const after = (id: string, name: string, more: Partial<LooseTask> = {}): LooseTask => ({
    id,
    tool: `shelf:${name}`,
    dependsOn: ['find'],
    ...more,
  });
  const running = run([
    find,
    after('a', 'touch'),
    after('b', 'write'),
    after('c', 'peek'),
    after('d', 'read', { arguments: { name: 'after b' }, dependsOn: ['b'] }),
    after('e', 'read', { arguments: { name: 'last' } }),
  ]);
  await expect.poll(() => calls).toContain('read last');
  expect(calls).toEqual(['find', 'read last']);
  letGo();
  expect((await running).status).toBe('approval_required');
});

test('[FLOW-29] while a person is asked, tasks after a question that changes nothing read ahead', async () => {
  const asking = { ...permissions, ask: ['shelf:peek'], approvalWaitMs: 60_000 };
  const { gateway, store, calls, run } = await shelf({ permissions: asking, workflow: { speculation: 8 } });
  const running = run([{ id: 'peek', tool: 'shelf:peek' }, read({ dependsOn: ['peek'] })]);
  await expect.poll(() => calls).toEqual(['read atlas']);
  await expect.poll(() => store.approvals.list({ state: 'pending' })).toHaveLength(1);
  const [asked] = await store.approvals.list({ state: 'pending' });
  await approve(gateway, asked!.runId);
  expect((await running).status).toBe('success');
  expect(calls).toEqual(['read atlas', 'peek']);
});

test('[FLOW-29] while an agent decides about the next layer, that layer reads ahead', async () => {
  const { gateway, calls, run, letGo } = await shelf();
  letGo();
  const paused = await run([find, read({ arguments: { name: '${find.name}' } })], { decide: 'layers' });
  expect(paused.status).toBe('decision_required');
  await expect.poll(() => calls).toEqual(['find', 'read atlas']);
  const over = await gateway.continueRun(paused.runId, 'continue', NOBODY);
  expect(over).toMatchObject({ status: 'success' });
  expect(calls).toEqual(['find', 'read atlas']);
});

test('[FLOW-32] a budget limits what runs ahead in one run; it is zero unless configured', async () => {
  const items = ['one', 'two', 'three', 'four'];
  const many = read({ forEach: items, arguments: { name: '${item}' } });
  for (const [settings, ahead] of [
    [{ workflow: { speculation: 2 } }, 2],
    [{}, 0],
  ] as const) {
    const { gateway, calls, run, letGo } = await shelf(settings);
    const running = run([find, many]);
    await expect.poll(() => calls).toHaveLength(1 + ahead);
    letGo();
    expect((await running).status).toBe('success');
    expect(calls).toHaveLength(1 + items.length);
    expect((await gateway.stats()).speculation).toEqual({ started: ahead, used: ahead });
  }
});
