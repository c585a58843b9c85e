import { expect, test } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';
import { AGENT, ASKING, approve, office, read, write } from '../support/workflow-office.ts';
import { planOf } from '../support/workflow-plan.ts';

const { permissions } = settingsFor([]);

test('[FLOW-25] a gateway that ends while a person is asked does not ask again', async () => {
  const patient = { permissions: { ...permissions, ask: ['disk:write'], approvalWaitMs: 60_000 } };
  const first = await office(createMemoryStore(), patient);
  const running = first.run([write('a', 'a')]);
  await expect.poll(() => first.store.approvals.list({ state: 'pending' })).toHaveLength(1);
  await first.gateway.close();
  const { runId } = await running;
  const second = await office(first.store);
  await second.gateway.settled();
  expect(await first.store.approvals.list({})).toHaveLength(1);
  await approve(second.gateway, runId);
  expect((await second.gateway.continueRun(runId, 'resume', AGENT)).status).toBe('success');
  expect([first.done, second.done]).toEqual([[], [{ path: 'a' }]]);
});

test('[FLOW-13] a person decides for exactly that call, once, whether a call that may have run runs again', async () => {
  const { gateway, store, done, run } = await office(createMemoryStore(), {
    permissions: { ...permissions, approvalWaitMs: 1 },
  });
  const { runId } = await run([read('a', 'a')]);
  const over = (await store.runs.get(runId))!;
  const plan = planOf([write('a', 'b')]);
  const again = async (tasks: Record<string, unknown>) => {
    const { version } = (await store.runs.get(runId))!;
    await store.runs.update({ ...over, plan, status: 'paused', tasks, version: version + 1 });
    return await gateway.continueRun(runId, 'resume', AGENT);
  };
  const asked = await again({ a: { status: 'running', crashes: 0 } });
  expect(asked).toMatchObject({ status: 'approval_required', results: { a: { status: 'unknown' } } });
  expect(asked.approvals).toMatchObject([
    { node: 'disk:write', arguments: { path: 'b' }, reason: expect.stringMatching(/may have run/) },
  ]);
  await approve(gateway, runId);
  const other = {
    ...asked.approvals[0]!,
    id: 'for-another',
    argumentsHash: 'another',
    state: 'approved' as const,
  };
  await store.approvals.request(other);
  expect((await again({ a: { status: 'unknown', approval_id: other.id } })).status).toBe('approval_required');
  expect(done).toEqual([]);
  const id = asked.approvals[0]!.id;
  expect((await again({ a: { status: 'unknown', approval_id: id } })).status).toBe('success');
  expect((await again({ a: { status: 'unknown', approval_id: id } })).status).toBe('approval_required');
  expect(done).toEqual([{ path: 'b' }]);
});

test('[FLOW-13] a single call that was active is asked about like a task, and made as it was requested', async () => {
  const first = await office(createMemoryStore(), ASKING);
  const { store } = first;
  const call = { tool: 'disk:write', arguments: { path: '${HOME}' } };
  const { runId } = await first.gateway.executeTool(call, AGENT);
  const waiting = (await store.runs.get(runId))!;
  const tasks = { call: { status: 'running', crashes: 0 } };
  await store.runs.update({ ...waiting, status: 'running', tasks, version: waiting.version + 1 });
  const second = await office(store, ASKING);
  await second.gateway.settled();
  const asked = await second.gateway.continueRun(runId, 'status', AGENT);
  expect(asked).toMatchObject({ status: 'approval_required', results: { call: { status: 'unknown' } } });
  expect(asked.approvals.at(-1)?.reason).toMatch(/may have run/);
  await approve(second.gateway, runId);
  const resumed = await second.gateway.continueRun(runId, 'resume', AGENT);
  expect(resumed).toMatchObject({ status: 'success', results: { call: { status: 'success' } } });
  expect([first.done, second.done]).toEqual([[], [{ path: '${HOME}' }]]);
});

test('[FLOW-14] a gateway that has lost a run starts nothing more of it', async () => {
  const { gateway, store, done, letGo } = await office(createMemoryStore(), {});
  const slow = { arguments: { path: 's', isHeld: true } };
  const running = gateway.executeWorkflow(
    planOf([read('slow', 's', slow), write('after', '${slow.text}')]),
    null,
    AGENT,
    'run-1',
  );
  await expect
    .poll(async () => (await store.runs.get('run-1'))?.tasks.slow)
    .toMatchObject({ status: 'running' });
  const run = (await store.runs.get('run-1'))!;
  await store.runs.update({ ...run, tasks: {}, version: run.version + 1 });
  const another = { owner: 'another', ttlMs: 60_000 };
  expect(await store.runs.claim('run-1', another)).not.toBeNull();
  letGo();
  expect(await running).toMatchObject({ status: 'running', results: { after: { status: 'pending' } } });
  expect(done).toEqual([]);
  expect((await store.runs.get('run-1'))?.tasks.slow).toMatchObject({ status: 'running' });
  expect(await gateway.continueRun('run-1', 'resume', AGENT)).toMatchObject({ status: 'running' });
});

test('[FLOW-25] a waiting run survives its gateway and continues at the next one', async () => {
  const first = await office();
  const { runId } = await first.run([read('a', 'a'), write('b', '${a.text}')]);
  await first.gateway.close();
  const second = await office(first.store);
  expect(await second.gateway.continueRun(runId, 'status', AGENT)).toMatchObject({
    status: 'approval_required',
  });
  await approve(second.gateway, runId);
  const over = await second.gateway.continueRun(runId, 'resume', AGENT);
  expect(over).toMatchObject({ status: 'success', results: { a: { result: { text: 'of a' } } } });
  expect([first.done, second.done]).toEqual([[], [{ path: 'of a' }]]);
});

test('[FLOW-25] a gateway that ends releases its runs, and the next one resumes them by itself', async () => {
  const store = createMemoryStore();
  const settings = { permissions: { ...permissions, approvalWaitMs: 1 } };
  const first = await office(store, settings);
  const tasks = [
    read('quick', 'q'),
    read('slow', 's', { arguments: { path: 's', isHeld: true } }),
    write('after', '${slow.text}'),
  ];
  const running = first.gateway.executeWorkflow(planOf(tasks), null, AGENT, 'run-1');
  const states = async () => (await store.runs.get('run-1'))?.tasks as Record<string, { status: string }>;
  await expect.poll(async () => (await states())?.quick?.status).toBe('success');
  await first.gateway.close();
  expect(await running).toMatchObject({ status: 'running', results: { after: { status: 'pending' } } });
  expect((await store.runs.get('run-1'))?.status).toBe('running');
  const nothingHeld = Promise.withResolvers<void>();
  nothingHeld.resolve();
  const second = await office(store, settings, nothingHeld);
  await second.gateway.settled();
  expect(await second.gateway.continueRun('run-1', 'status', AGENT)).toMatchObject({
    status: 'success',
    results: { quick: { status: 'success' }, after: { status: 'success' } },
  });
  expect(second.done).toEqual([{ path: 'of s' }]);
});

test('[FLOW-26] secrets of a plan and of results are not stored; a run that needs them again says so', async () => {
  const store = createMemoryStore();
  const secret = 'hunter2-hunter2';
  const { gateway, done, run } = await office(store, { ...ASKING, secrets: [secret] });
  const { runId } = await run([
    read('lost', secret),
    write('b', 'b'),
    write('c', 'c', { arguments: { path: 'x', password: secret }, dependsOn: ['b'] }),
    write('d', '${lost.text}', { dependsOn: ['b'] }),
  ]);
  const kept = JSON.stringify([await store.runs.get(runId), await store.approvals.list({})]);
  expect(kept).not.toContain('hunter2');
  await approve(gateway, runId);
  const over = await gateway.continueRun(runId, 'resume', AGENT);
  const unavailable = (message: RegExp) => ({
    status: 'error',
    error: { code: 'not_available', message: expect.stringMatching(message) },
  });
  expect(over).toMatchObject({
    status: 'error',
    results: {
      b: { status: 'success' },
      c: unavailable(/^Task c cannot continue: it contained secrets/),
      d: unavailable(/^The result of lost/),
    },
  });
  expect(done).toEqual([{ path: 'b' }]);
});

test('[FLOW-26] a result too large to store is read again where that does no harm', async () => {
  const store = createMemoryStore();
  const asked: string[] = [];
  const large = (name: string, annotations: object) =>
    tool(
      name,
      () => {
        asked.push(name);
        return { text: 'x'.repeat(200_000) };
      },
      { annotations },
    );
  const servers = [
    { name: 'big', tools: [large('read', { readOnlyHint: true }), large('make', {})] },
    { name: 'disk', tools: [tool('write', ({ text }) => String(text).length)] },
  ];
  const { gateway } = await testGateway({ servers, settings: ASKING, store });
  const plan = planOf([
    { id: 'read', tool: 'big:read' },
    { id: 'make', tool: 'big:make' },
    { id: 'gate', tool: 'disk:write', arguments: { text: 'now' } },
    { id: 'one', code: 'return args.text.length', arguments: { text: '${read.text}' }, dependsOn: ['gate'] },
    { id: 'two', code: 'return args.text.length', arguments: { text: '${make.text}' }, dependsOn: ['gate'] },
  ]);
  const { runId } = await gateway.executeWorkflow(plan, null, AGENT);
  await approve(gateway, runId);
  const over = await gateway.continueRun(runId, 'resume', AGENT);
  expect(over.results).toMatchObject({
    one: { status: 'success', result: 200_000 },
    two: { status: 'error', error: { code: 'not_available' } },
  });
  expect(asked).toEqual(['read', 'make', 'read']);
});
