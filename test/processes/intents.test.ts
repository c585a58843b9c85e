import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject, Settings } from '../../src/engine/ports.ts';
import { runPml } from '../support/run-pml.ts';
import { settingsFor } from '../support/settings-for.ts';
import { taughtGateway, wordings } from '../support/taught-gateway.ts';
import { testGateway, tool } from '../support/test-gateway.ts';
import { untilSure } from '../support/until-sure.ts';
import { planOf } from '../support/workflow-plan.ts';

const INTENT = 'read the northern harvest report and file it';
const AGENT = { sessionId: 'agent-1' };
const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});

const READS = { annotations: { readOnlyHint: true } };

interface Office {
  readonly settings?: Partial<Settings>;
  /** What the tool that files says of itself. */
  readonly files?: JsonObject;
  /** How often the work is done before; else until the gateway is sure of it. */
  readonly times?: number;
}

/** A gateway that has done the work before. */
async function taught({ settings = {}, files = {}, times }: Office = {}) {
  const filed: unknown[] = [];
  let isFull = false;
  const file = (args: JsonObject) => {
    if (isFull) throw new Error('the cabinet is full');
    filed.push(args);
  };
  const read = ({ path }: JsonObject) => ({ text: `What is said in ${path} and nowhere else` });
  const tools = [
    tool('read', read, { ...needs('path'), ...READS }),
    tool('file', file, { ...needs('content'), ...files }),
  ];
  const { gateway, store } = await testGateway({ servers: [{ name: 'disk', tools }], settings });
  const plan = planOf([
    { id: 'a', tool: 'disk:read', arguments: { path: 'northern-harvest-2026.md' } },
    { id: 'b', tool: 'disk:file', arguments: { content: '${a.text}' } },
  ]);
  const work = async () => {
    expect(await gateway.executeWorkflow(plan, INTENT, AGENT)).toMatchObject({ status: 'success' });
    await gateway.settled();
  };
  if (times === undefined) {
    await untilSure(work, async () => {
      const suggested = await gateway.suggest(INTENT, AGENT);
      await gateway.settled();
      return suggested;
    });
  } else for (let nth = 0; nth < times; nth++) await work();
  const before = filed.length;
  return {
    gateway,
    store,
    /** Since then. */
    filed: () => filed.slice(before),
    fill: () => {
      isFull = true;
    },
  };
}

const CALL = { intent: INTENT, arguments: { path: 'x.md', other: 1 } };

test('[INTENT-1] an intent alone runs the suggestion if all of it is marked read-only', async () => {
  const { gateway, store, filed } = await taught({ files: READS });
  const made = await gateway.executeIntent(CALL, AGENT);
  expect(made).toMatchObject({ why: [], run: { status: 'success' } });
  expect(filed()).toEqual([{ content: 'What is said in x.md and nowhere else' }]);
  await gateway.settled();
  const [trace] = await store.traces.list({ limit: 1 });
  expect(trace).toMatchObject({ runId: made.run?.runId, origin: 'self', success: true });
});

test('[INTENT-1] [POLICY-7] however confident it is, a plan that may change something waits until permissions.auto names its tools', async () => {
  const { gateway, filed } = await taught();
  const made = await gateway.executeIntent(CALL, AGENT);
  expect(made.run).toBeUndefined();
  expect(made.why).toEqual([
    expect.stringMatching(/\(disk:file\) may change something: .*permissions\.auto/),
  ]);
  expect(filed()).toEqual([]);
  const settings = gateway.settings();
  const with_ = (over: Partial<Settings['permissions']>) =>
    gateway.reload({ ...settings, permissions: { ...settings.permissions, ...over } });
  for (const rule of [{ ask: ['disk:file'] }, { deny: ['disk:file'] }]) {
    await with_({ auto: ['disk:file'], ...rule });
    expect(await gateway.executeIntent(CALL, AGENT)).not.toHaveProperty('run');
  }
  await with_({ auto: ['disk:file'] });
  expect(await gateway.executeIntent(CALL, AGENT)).toMatchObject({ why: [], run: { status: 'success' } });
  expect(filed()).toHaveLength(1);
});

test('[INTENT-2] a plan that is uncertain, lacks values or would ask is suggested with every reason, and nothing runs', async () => {
  const { permissions } = settingsFor([]);
  const { gateway, filed } = await taught({ times: 1 });
  await gateway.reload({ ...gateway.settings(), permissions: { ...permissions, ask: ['disk:file'] } });
  const { why, run, suggestion } = await gateway.executeIntent({ intent: INTENT }, AGENT);
  expect(run).toBeUndefined();
  expect(suggestion.plan.tasks).toHaveLength(2);
  expect(why).toEqual([
    expect.stringMatching(/^its confidence of \d+ % is below the required 90 %/),
    'only 1 past run like it succeeded with these tools; 2 are required',
    'it needs "path": give them in "arguments"',
    expect.stringMatching(/\(disk:file\) would ask a person: /),
  ]);
  expect(await gateway.executeIntent({ intent: '' }, AGENT)).toMatchObject({ why: ['no known tool fits'] });
  expect(filed()).toEqual([]);
});

test('[INTENT-5] [INTENT-8] a suggestion is run by its id, by whoever decides to', async () => {
  const { gateway, store, filed } = await taught({ times: 1 });
  const { suggestion } = await gateway.executeIntent(CALL, AGENT);
  const misspelt = { path: 'y.md', paht: 'z.md' };
  await expect(gateway.executeSuggestion(suggestion.id!, misspelt, AGENT)).rejects.toThrow(
    'The suggestion has no argument "paht", or more than one',
  );
  const made = await gateway.executeSuggestion(suggestion.id!, { path: 'y.md' }, AGENT);
  expect(made).toMatchObject({ status: 'success' });
  expect(filed()).toEqual([{ content: 'What is said in y.md and nowhere else' }]);
  await gateway.settled();
  expect(await store.traces.list({ limit: 1 })).toMatchObject([{ origin: 'agent', intentText: INTENT }]);
  expect((await store.suggestions.get(suggestion.id!))?.outcome).toMatchObject({ verdict: 'accepted' });
  await expect(gateway.executeSuggestion('nowhere', {}, AGENT)).rejects.toThrow(
    'Suggestion nowhere not found',
  );
});

test('[INTENT-4] in a run that PML started, an unchecked call that may write is refused', async () => {
  const { gateway, filed } = await taught({ times: 1 });
  const own = { ...AGENT, origin: 'self' as const };
  const code = 'const name = args.name; return await mcp.disk[name]({ path: "x.md", content: "x" });';
  const run = (name: string) => gateway.executeCode({ code, arguments: { name } }, own);
  expect(await run('read')).toMatchObject({ status: 'success' });
  expect(await run('file')).toMatchObject({
    status: 'error',
    error: { message: expect.stringContaining('permissions.auto does not name it') },
  });
  const step = { id: 'a', tool: 'disk:file', arguments: { content: 'x' } };
  expect(await gateway.executeWorkflow(planOf([step]), INTENT, own)).toMatchObject({
    status: 'error',
    results: { a: { error: { code: 'forbidden' } } },
  });
  expect(filed()).toEqual([]);
});

test('[ORIGIN-1] a waiting run that an agent resumes keeps its origin', async () => {
  const { gateway, store } = await taught({ times: 1 });
  const { permissions } = settingsFor([]);
  await gateway.reload({ ...gateway.settings(), permissions: { ...permissions, ask: ['disk:read'] } });
  const plan = planOf([{ id: 'a', tool: 'disk:read', arguments: { path: 'x.md' } }]);
  const { runId, status } = await gateway.executeWorkflow(plan, INTENT, { ...AGENT, origin: 'self' });
  expect(status).toBe('approval_required');
  await gateway.settleApproval(runId, 'approved', 'a person');
  expect(await gateway.continueRun(runId, 'resume', AGENT)).toMatchObject({ status: 'success' });
  await gateway.settled();
  expect(await store.traces.list({ limit: 1 })).toMatchObject([{ runId, origin: 'self', success: true }]);
});

test('[ORIGIN-2] in a run that PML started a capability gains no success, but its failure counts', async () => {
  const code = 'if (args.fail) throw new Error("no"); return await mcp.disk.read({ path: "x.md" })';
  const { gateway } = await testGateway({
    servers: [{ name: 'disk', tools: [tool('read', () => null, READS)] }],
    capabilities: [{ slug: 'look', code, uses: 5, successes: 5 }],
  });
  const run = async (fail: boolean, origin: 'agent' | 'self') => {
    const plan = planOf([{ id: 'a', capability: 'look', arguments: { fail } }]);
    await gateway.executeWorkflow(plan, INTENT, { ...AGENT, origin });
    await gateway.settled();
    const { uses, successes } = await gateway.capabilities.show('look');
    return [uses, successes];
  };
  expect(await run(false, 'self')).toEqual([5, 5]);
  expect(await run(true, 'self')).toEqual([6, 5]);
  expect(await run(false, 'agent')).toEqual([7, 6]);
});

test('[ORIGIN-2] [ORIGIN-3] a success of a run that PML started teaches nothing, a failure does; a rebuild agrees', async () => {
  const { gateway, store, filed, fill } = await taught({ files: READS });
  const learned = async () => {
    await gateway.settled();
    const { runs, suggestions, success } = await gateway.learning.report();
    const { made: _, ...outcomes } = suggestions;
    // How recent something is goes by the clock, not by what was learned.
    const { trace_statistics: _moment, ...file } = (await gateway.graph.node('disk:file'))!;
    return { runs, outcomes, rate: success.successRate, graph: await store.graph.read(), file };
  };
  const known = ({ graph, ...rest }: Awaited<ReturnType<typeof learned>>) => ({
    ...rest,
    edges: graph.edges,
    statistics: graph.statistics,
  });
  const before = known(await learned());
  for (let times = 0; times < 3; times++) {
    expect(await gateway.executeIntent(CALL, AGENT)).toMatchObject({ run: { status: 'success' } });
  }
  expect(known(await learned())).toEqual(before);
  expect(filed()).toHaveLength(3);

  fill();
  expect(await gateway.executeIntent(CALL, AGENT)).toMatchObject({ run: { status: 'error' } });
  const after = known(await learned());
  expect(after.runs).toBe(before.runs + 1);
  expect(after.outcomes).toEqual(before.outcomes);
  expect(after.edges).toEqual(before.edges);
  const counted = (name: string, of: typeof before) => of.statistics.find(({ node }) => node === name);
  expect(counted('disk:read', after)).toEqual(counted('disk:read', before));
  expect(counted('disk:file', after)).toMatchObject({
    calls: counted('disk:file', before)!.calls + 1,
    failures: counted('disk:file', before)!.failures + 1,
  });
  await gateway.graph.rebuild();
  expect(known(await learned())).toEqual(after);
});

const LOOK = 'return await mcp.filesystem.list_directory({ path: args.path });';

test('[INTENT-3] [ASPLAN-6] with real servers: taught by code, run as a plan, then by its intent alone', async () => {
  const { dir, where, post, learnedFrom } = await taughtGateway();
  await mkdir(join(dir, 'notes'));
  await writeFile(join(dir, 'notes', 'a.txt'), 'Apples are picked in the northern orchard.');
  await writeFile(join(dir, 'look.ts'), LOOK);
  const pml = (...args: string[]) => runPml([...args, ...where], { cwd: dir });
  const path = join(dir, 'notes');
  const [wanted, ...others] = wordings('list what the notes folder holds', 40) as [string, ...string[]];
  const intent = ['--intent', wanted];

  const first = await pml('run', 'look.ts', '--as-plan', ...intent, '--args', JSON.stringify({ path }));
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('a.txt') });
  expect(first.stderr).toContain('filesystem:list_directory');
  for (const other of others) {
    const call = { code: LOOK, as_plan: true, intent: other, arguments: { path } };
    expect(await post('/api/execute', call)).toMatchObject({ status: 'success' });
  }
  await learnedFrom(40);
  await expect
    .poll(async () => (await post('/api/suggest', { intent: wanted })).confidence, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(0.9);

  // Forty runs had the same path, which need not be said again.
  const asked = await pml('run', ...intent, '--json');
  expect(JSON.parse(asked.stdout)).toMatchObject({ status: 'success' });
  const other = join(dir, 'letters');
  await mkdir(other);
  await writeFile(join(other, 'b.txt'), 'Dear Ada');
  const second = await pml('run', ...intent, '--args', JSON.stringify({ path: other }));
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('b.txt') });
}, 180_000);
