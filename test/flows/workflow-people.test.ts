import { expect, test } from 'vitest';
import type { Approval, JsonObject, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';
import { AGENT, approve, office, read, write } from '../support/workflow-office.ts';
import { planOf } from '../support/workflow-plan.ts';

const { permissions } = settingsFor([]);
const pending = (approvals: readonly Approval[]) => approvals.filter(({ state }) => state === 'pending');

test('[FLOW-15] all questions of a layer are asked at once, with the exact arguments, and the rest continues meanwhile', async () => {
  const { gateway, done, run } = await office();
  const paused = await run([
    read('look', 'a'),
    write('one', '${look.text}'),
    write('two', 'b', { dependsOn: ['look'] }),
    read('other', 'c', { dependsOn: ['look'] }),
    write('last', '${one.written}'),
  ]);
  expect(paused).toMatchObject({
    status: 'approval_required',
    results: {
      look: { status: 'success' },
      one: { status: 'waiting' },
      two: { status: 'waiting' },
      other: { status: 'success' },
      last: { status: 'pending' },
    },
  });
  // Asked at once, they are written down in any order.
  const asked = paused.approvals.map(({ node, arguments: args }) => [node, args]);
  expect(asked).toHaveLength(2);
  for (const path of ['of a', 'b']) expect(asked).toContainEqual(['disk:write', { path }]);
  expect(done).toEqual([]);
  await approve(gateway, paused.runId);
  const next = await gateway.continueRun(paused.runId, 'resume', AGENT);
  expect(next).toMatchObject({ status: 'approval_required', results: { last: { status: 'waiting' } } });
  await approve(gateway, paused.runId);
  const over = await gateway.continueRun(paused.runId, 'resume', AGENT);
  expect(over).toMatchObject({ status: 'success', results: { last: { result: { written: 'of a' } } } });
  expect(done).toEqual([{ path: 'of a' }, { path: 'b' }, { path: 'of a' }]);
});

test('[FLOW-15] approved tasks run and others keep waiting, without being asked about again', async () => {
  const { gateway, store, done, run } = await office();
  const { runId, approvals } = await run([write('one', 'a'), write('two', 'b')]);
  const two = approvals.find(({ arguments: args }) => (args as JsonObject).path === 'b');
  await approve(gateway, runId, [two!.id]);
  const resumed = await gateway.continueRun(runId, 'resume', AGENT);
  expect(resumed).toMatchObject({
    status: 'approval_required',
    results: { one: { status: 'waiting' }, two: { status: 'success' } },
  });
  expect(done).toEqual([{ path: 'b' }]);
  expect(await store.approvals.list({ runId })).toHaveLength(2);
});

test('[FLOW-15] a decision made while the run waits lets it continue', async () => {
  const patient = { permissions: { ...permissions, ask: ['disk:write'], approvalWaitMs: 60_000 } };
  const { gateway, store, done, run } = await office(createMemoryStore(), patient);
  const running = run([write('one', 'a'), write('two', 'b')]);
  await expect.poll(() => store.approvals.list({ state: 'pending' })).toHaveLength(2);
  const asked = await store.approvals.list({});
  const askedFor = (path: string) => asked.find(({ arguments: args }) => (args as JsonObject).path === path);
  const [one, two] = [askedFor('a'), askedFor('b')];
  await approve(gateway, one!.runId, [one!.id]);
  await gateway.settleApproval(two!.runId, 'rejected', 'ana', [two!.id]);
  expect(await running).toMatchObject({
    status: 'error',
    results: { one: { status: 'success' }, two: { status: 'error', error: { code: 'forbidden' } } },
  });
  expect(done).toEqual([{ path: 'a' }]);
});

test('[FLOW-23] a client that stops waiting for a person leaves a run that can be resumed', async () => {
  const patient = { permissions: { ...permissions, ask: ['disk:write'], approvalWaitMs: 60_000 } };
  const { gateway, store, done } = await office(createMemoryStore(), patient);
  const leaving = new AbortController();
  const plan = planOf([read('a', 'a'), write('b', '${a.text}')]);
  const running = gateway.executeWorkflow(plan, null, { ...AGENT, signal: leaving.signal });
  await expect.poll(() => store.approvals.list({ state: 'pending' })).toHaveLength(1);
  leaving.abort();
  const paused = await running;
  expect(paused).toMatchObject({ status: 'approval_required', results: { b: { status: 'waiting' } } });
  await approve(gateway, paused.runId);
  expect((await gateway.continueRun(paused.runId, 'resume', AGENT)).status).toBe('success');
  expect(done).toEqual([{ path: 'of a' }]);
  expect(await store.approvals.list({})).toHaveLength(1);
});

test('[FLOW-15] a run that waits for a person from the start is visible, and is held as long as it waits', async () => {
  const memory = createMemoryStore();
  const renewals: boolean[] = [];
  const renew: Store['runs']['renew'] = async (...lease) => {
    const isHeld = await memory.runs.renew(...lease);
    renewals.push(isHeld);
    return isHeld;
  };
  const store = { ...memory, runs: { ...memory.runs, renew } };
  const done: unknown[] = [];
  const servers = [{ name: 'disk', tools: [tool('write', (args) => void done.push(args))] }];
  const patient = { permissions: { ...permissions, ask: ['disk:write'], approvalWaitMs: 60_000 } };
  const { gateway } = await testGateway({ servers, settings: patient, store, leaseMs: 900 });
  const running = gateway.executeWorkflow(planOf([{ id: 'a', tool: 'disk:write' }]), 'tidy up', AGENT);
  await expect.poll(() => store.runs.list(1)).toMatchObject([{ status: 'running', intentText: 'tidy up' }]);
  await expect.poll(() => renewals.length).toBeGreaterThan(3);
  expect(renewals).not.toContain(false);
  const [run] = await store.runs.list(1);
  await approve(gateway, run!.id);
  expect(await running).toMatchObject({ status: 'success' });
  expect(done).toEqual([{}]);
  await gateway.close();
});

test('[FLOW-2] a plan with a denied tool is refused before anything runs', async () => {
  const denying = { permissions: { ...permissions, deny: ['disk:write'] } };
  const { store, run } = await office(createMemoryStore(), denying);
  await expect(run([read('a', 'a'), write('b', 'b')])).rejects.toThrow(
    /b cannot run: disk:write is not allowed/,
  );
  expect(await store.runs.list(1)).toEqual([]);
});

test('[FLOW-15] an approval for other arguments does not apply', async () => {
  const { gateway, store, done, run } = await office();
  const first = await run([write('one', 'a')]);
  await approve(gateway, first.runId);
  const other = await run([write('one', 'b')]);
  expect(other.status).toBe('approval_required');
  expect(done).toEqual([]);
  // Nor when a run is made to point at an approval that was given for something else.
  const stored = (await store.runs.get(other.runId))!;
  const [given] = await store.approvals.list({ runId: first.runId });
  const tasks = { one: { status: 'waiting', approval_id: given!.id } };
  await store.runs.update({ ...stored, tasks, version: stored.version + 1 });
  expect((await gateway.continueRun(other.runId, 'resume', AGENT)).status).toBe('approval_required');
  expect(done).toEqual([]);
});

test('[FLOW-15] [FLOW-18] the items of a list are asked about, rejected and edited one by one', async () => {
  const { gateway, done, run } = await office();
  const each = { forEach: ['a', 'b', 'c'], arguments: { path: '${item}' } };
  const after = { id: 'after', code: 'return args.all.length', arguments: { all: '${each}' } };
  const paused = await run([write('each', '', each), after]);
  expect(paused).toMatchObject({
    status: 'approval_required',
    results: { each: { status: 'pending' }, 'each[0]': { status: 'waiting' }, after: { status: 'pending' } },
  });
  expect(paused.approvals.map(({ arguments: args }) => args)).toEqual([
    { path: 'a' },
    { path: 'b' },
    { path: 'c' },
  ]);
  const { runId } = paused;
  await gateway.editCall(runId, { task: 'each[1]', arguments: { path: 'x' }, by: 'ana' });
  await approve(gateway, runId);
  const over = await gateway.continueRun(runId, 'resume', AGENT);
  expect(over).toMatchObject({
    status: 'success',
    results: {
      each: { result: [{ written: 'a' }, { written: 'x' }, { written: 'c' }] },
      after: { result: 3 },
    },
  });
  expect(done.map(({ path }) => path).sort()).toEqual(['a', 'c', 'x']);
});

test('[FLOW-16] whatever an agent requests, it cannot approve its own call', async () => {
  const { gateway, store, done, run } = await office();
  const { runId, approvals } = await run([write('one', 'a')]);
  for (const action of ['status', 'continue', 'resume'] as const) {
    const told = await gateway.continueRun(runId, action, AGENT);
    expect(told.status).toBe('approval_required');
  }
  const id = approvals[0]!.id;
  const attempts = [
    { tool: 'pml:approve', arguments: { run_id: runId } },
    { tool: 'pml:settle_approval', arguments: { runId, decision: 'approved', by: 'ana' } },
    { tool: 'gateway:settleApproval', arguments: { runId, approvalIds: [id] } },
  ];
  for (const call of attempts) expect((await gateway.executeTool(call, AGENT)).status).toBe('error');
  const code = `return await mcp.pml.approve({ run_id: ${JSON.stringify(runId)} })`;
  expect((await gateway.executeCode({ code }, AGENT)).status).toBe('error');
  // The same call once more is asked about once more.
  expect((await run([write('one', 'a')])).status).toBe('approval_required');
  expect(done).toEqual([]);
  expect((await store.approvals.get(id))?.state).toBe('pending');
});

test('[FLOW-17] a rejected task fails with its dependents, and the rest continues', async () => {
  const { gateway, done, run } = await office();
  const { runId, approvals } = await run([
    write('one', 'a'),
    write('two', 'b'),
    read('after', 'c', { dependsOn: ['one'] }),
  ]);
  await gateway.settleApproval(runId, 'rejected', 'ana', [approvals[0]!.id]);
  await approve(gateway, runId);
  const over = await gateway.continueRun(runId, 'resume', AGENT);
  expect(over).toMatchObject({
    status: 'error',
    results: {
      one: {
        status: 'error',
        error: { code: 'forbidden', message: expect.stringMatching(/A person rejected/) },
      },
      two: { status: 'success' },
      after: { status: 'skipped' },
    },
  });
  expect(done).toEqual([{ path: 'b' }]);
});

test('[FLOW-18] a person may edit the arguments: another hash, another approval, another call', async () => {
  const { gateway, store, done, run } = await office();
  const { runId, approvals } = await run([write('one', 'a'), read('after', '${one.written}')]);
  const edit = { arguments: { path: 'b' }, by: 'ana' };
  const edited = await gateway.editCall(runId, edit);
  expect(edited).toMatchObject({ state: 'pending', arguments: { path: 'b' }, node: 'disk:write' });
  expect(edited.argumentsHash).not.toBe(approvals[0]!.argumentsHash);
  expect((await store.approvals.get(approvals[0]!.id))?.state).toBe('rejected');
  expect((await gateway.continueRun(runId, 'resume', AGENT)).status).toBe('approval_required');
  expect(done).toEqual([]);
  await approve(gateway, runId);
  expect(await gateway.continueRun(runId, 'resume', AGENT)).toMatchObject({
    status: 'success',
    results: { after: { result: { text: 'of b' } } },
  });
  expect(done).toEqual([{ path: 'b' }]);
  await expect(gateway.editCall(runId, edit)).rejects.toThrow(/is waiting for a decision/);
});

test('[FLOW-18] a single waiting call can be edited too; code cannot, and of several calls one must be named', async () => {
  const { gateway, done, run } = await office();
  const call = await gateway.executeTool({ tool: 'disk:write', arguments: { path: 'a' } }, AGENT);
  await gateway.editCall(call.runId, { arguments: { path: 'b' }, by: 'ana' });
  await approve(gateway, call.runId);
  expect((await gateway.continueRun(call.runId, 'resume', AGENT)).status).toBe('success');
  expect(done).toEqual([{ path: 'b' }]);
  const { runId } = await run([write('one', 'a'), write('two', 'b')]);
  const edit = { arguments: { path: 'c' }, by: 'ana' };
  await expect(gateway.editCall(runId, edit)).rejects.toThrow(/Several tasks.*one, two/);
  await gateway.editCall(runId, { ...edit, task: 'two' });
  const code = await run([{ id: 'it', code: 'return await mcp.disk.write({ path: "x" })' }]);
  await expect(gateway.editCall(code.runId, edit)).rejects.toThrow(/is not a tool call/);
});

test('[FLOW-15] code of a waiting plan continues where it stopped once it is approved', async () => {
  const { gateway, done, run } = await office();
  const code = `
    const { text } = await mcp.disk.read({ path: String(args.n) });
    const { written } = await mcp.disk.write({ path: text });
    return { written, again: Math.random() };`;
  const paused = await run([
    { id: 'it', code, arguments: { n: 7 } },
    { id: 'after', code: 'return deps.it.written', dependsOn: ['it'] },
  ]);
  expect(paused).toMatchObject({ status: 'approval_required', results: { it: { status: 'waiting' } } });
  expect(paused.approvals.map(({ arguments: args }) => args)).toEqual([{ path: 'of 7' }]);
  await approve(gateway, paused.runId);
  const over = await gateway.continueRun(paused.runId, 'resume', AGENT);
  expect(over).toMatchObject({ status: 'success', results: { after: { result: 'of 7' } } });
  expect(done).toEqual([{ path: 'of 7' }]);
});

test('[FLOW-19] a run is aborted while it waits and while it runs: nothing more starts', async () => {
  const { gateway, store, done, run } = await office();
  const { runId } = await run([write('one', 'a')]);
  expect((await gateway.continueRun(runId, 'abort', AGENT)).status).toBe('aborted');
  expect(pending(await store.approvals.list({ runId }))).toEqual([]);
  expect((await gateway.continueRun(runId, 'resume', AGENT)).status).toBe('aborted');
  const slow = planOf([
    read('slow', 'a', { arguments: { path: 'a', isHeld: true } }),
    read('b', '${slow.text}'),
  ]);
  const running = gateway.executeWorkflow(slow, null, AGENT, 'run-2');
  await expect
    .poll(async () => (await store.runs.get('run-2'))?.tasks.slow)
    .toMatchObject({ status: 'running' });
  expect((await gateway.continueRun('run-2', 'abort', AGENT)).status).toBe('aborted');
  expect(await running).toMatchObject({ status: 'aborted', results: { b: { status: 'pending' } } });
  expect(done).toEqual([]);
});

test('[FLOW-20] if the plan says so, the agent decides after each layer: continue, or replan from what is done', async () => {
  const { gateway, store, run } = await office();
  const tasks = [read('a', 'a'), read('b', '${a.text}'), read('c', '${b.text}')];
  const first = await run(tasks, { decide: 'layers' });
  expect(first).toMatchObject({
    status: 'decision_required',
    next: ['b'],
    results: { a: { status: 'success' }, b: { status: 'pending' } },
  });
  const { runId } = first;
  // Going on without deciding changes nothing.
  expect(await gateway.continueRun(runId, 'resume', AGENT)).toMatchObject({ next: ['b'] });
  const second = await gateway.continueRun(runId, 'continue', AGENT);
  expect(second).toMatchObject({ status: 'decision_required', next: ['c'] });
  const replanned = await gateway.continueRun(runId, 'replan', AGENT);
  expect(replanned).toMatchObject({ status: 'aborted', executed: ['disk:read', 'disk:read'] });
  expect(replanned.results).toMatchObject({ b: { result: { text: 'of of a' } }, c: { status: 'pending' } });
  const decisions = (await store.episodes.list(runId)).filter(
    ({ eventType }) => eventType === 'ail_decision',
  );
  expect(decisions.map(({ data }) => data.action)).toEqual(['continue', 'replan']);
  expect((await run([read('a', 'a')], { decide: 'layers' })).status).toBe('success');
});

test('[FLOW-21] task results and the decisions of people and the agent are stored with the run', async () => {
  const { gateway, store, run } = await office();
  const { runId } = await run([read('a', 'a'), write('b', 'b'), write('c', 'c')]);
  await gateway.settled();
  await gateway.editCall(runId, { task: 'b', arguments: { path: 'x' }, by: 'ana' });
  await approve(gateway, runId);
  await gateway.continueRun(runId, 'continue', AGENT);
  await gateway.settled();
  const kept = await store.episodes.list(runId);
  expect(
    kept.map(({ eventType, taskId, data }) => [
      eventType,
      taskId,
      data.decision ?? data.action ?? data.success,
    ]),
  ).toEqual([
    ['task_complete', 'a', true],
    ['hil_decision', null, 'rejected'],
    ['hil_decision', 'b', 'edited'],
    ['hil_decision', null, 'approved'],
    ['hil_decision', null, 'approved'],
    ['ail_decision', null, 'continue'],
    ['task_complete', 'b', true],
    ['task_complete', 'c', true],
  ]);
  expect(kept.find(({ data }) => data.decision === 'approved')?.data).toMatchObject({
    by: 'ana',
    node: 'disk:write',
    arguments_hash: expect.any(String),
  });
});

test('[FLOW-24] reads and code without calls never ask, not even under the careful profile', async () => {
  const careful = { permissions: { ...permissions, profile: 'careful' as const, approvalWaitMs: 1 } };
  const { store, run } = await office(createMemoryStore(), careful);
  const over = await run([read('a', 'a'), { id: 'b', code: 'return deps.a.text.length', dependsOn: ['a'] }]);
  expect(over).toMatchObject({ status: 'success', results: { b: { result: 4 } } });
  expect((await run([write('a', 'a')])).status).toBe('approval_required');
  expect(await store.approvals.list({})).toHaveLength(1);
});
