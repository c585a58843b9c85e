import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/vocabulary/plan.ts';
import type { Settings, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';
import { planOf } from '../support/workflow-plan.ts';

const INTENT = 'collect the harvest figures, sum them up and post them';
const AGENT = { sessionId: 'agent-1' };
const WORK = planOf([
  { id: 'a', tool: 'farm:collect' },
  { id: 'b', tool: 'farm:sum', dependsOn: ['a'] },
  { id: 'c', tool: 'farm:post', dependsOn: ['b'] },
]);
const without = (plan: Plan, name: string): Plan => {
  const tasks = plan.tasks.filter((task) => task.tool !== name);
  const ids = new Set(tasks.map(({ id }) => id));
  return {
    ...plan,
    tasks: tasks.map((task) => ({ ...task, dependsOn: task.dependsOn.filter((id) => ids.has(id)) })),
  };
};

/** A gateway that has done the work once. */
async function farm(store: Store = createMemoryStore(), settings: Partial<Settings> = {}) {
  const tools = ['collect', 'sum', 'post', 'shout'].map((name) => tool(name, () => `done ${name}`));
  const { gateway } = await testGateway({ servers: [{ name: 'farm', tools }], store, settings });
  const run = async (
    plan: Plan,
    suggestionId?: string | null,
    intent: string | null = INTENT,
    caller = AGENT,
  ) => {
    const made = await gateway.executeWorkflow(plan, intent, caller, undefined, suggestionId ?? undefined);
    expect(made.status).toBe('success');
    await gateway.settled();
    return made.runId;
  };
  return { gateway, store, run };
}

test('[SUGG-1] a run that names its suggestion settles it: accepted unchanged', async () => {
  const { gateway, store, run } = await farm();
  await run(WORK, null, INTENT, { sessionId: 'another' });
  const first = await gateway.suggest(INTENT, AGENT);
  const runId = await run(first.plan, first.id, null);
  expect(await store.suggestions.get(first.id!)).toMatchObject({
    intentText: INTENT,
    outcome: { verdict: 'accepted', runId, left: [], came: [], moved: [] },
  });
  expect((await store.runs.get(runId))?.intentText).toBe(INTENT);
});

test('[SUGG-1] or edited, with the differences', async () => {
  const { gateway, store, run } = await farm();
  await run(WORK, null, INTENT, { sessionId: 'another' });
  const { id, plan } = await gateway.suggest(INTENT, AGENT);
  await run(planOf([...without(plan, 'farm:post').tasks, { id: 'x', tool: 'farm:shout' }]), id);
  expect((await store.suggestions.get(id!))?.outcome).toMatchObject({
    verdict: 'edited',
    left: ['farm:post'],
    came: ['farm:shout'],
  });
  await expect(gateway.executeWorkflow(WORK, null, AGENT, undefined, 'nothing')).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('[SUGG-2] a run that waited for a person in between counts as a whole', async () => {
  const { permissions } = settingsFor([]);
  const asking = { permissions: { ...permissions, ask: ['farm:post'], approvalWaitMs: 1 } };
  const { gateway, store } = await farm(createMemoryStore(), asking);
  const act = async () => {
    const { runId } = await gateway.executeWorkflow(WORK, INTENT, AGENT);
    await gateway.settleApproval(runId, 'approved', 'ana');
    expect((await gateway.continueRun(runId, 'resume', AGENT)).status).toBe('success');
    await gateway.settled();
  };
  await act();
  const { id, plan } = await gateway.suggest(INTENT, AGENT);
  expect(plan.tasks).toHaveLength(3);
  await act();
  expect((await store.suggestions.get(id!))?.outcome).toMatchObject({ verdict: 'accepted', left: [] });
});

test('[SUGG-2] a suggestion is rejected explicitly, once', async () => {
  const { gateway, store, run } = await farm();
  await run(WORK, null, INTENT, { sessionId: 'another' });
  const { id } = await gateway.suggest(INTENT, AGENT);
  expect(await gateway.rejectSuggestion(id!)).toBe(true);
  expect(await gateway.rejectSuggestion(id!)).toBe(false);
  expect((await store.suggestions.get(id!))?.outcome).toMatchObject({
    verdict: 'rejected',
    left: ['farm:collect', 'farm:sum', 'farm:post'],
  });
});

test('[SUGG-2] a run with the same session and intent settles the suggestion', async () => {
  const { gateway, store, run } = await farm();
  await run(WORK, null, INTENT, { sessionId: 'another' });
  const outcomeOf = async (id: string | null) => (await store.suggestions.get(id!))?.outcome;
  const suggested = await gateway.suggest(INTENT, AGENT);
  await run(planOf([{ id: 'z', tool: 'farm:shout' }]), null, INTENT, { sessionId: 'another' });
  await run(planOf([{ id: 'z', tool: 'farm:shout' }]), null, 'something else', AGENT);
  expect(await outcomeOf(suggested.id)).toBeNull();
  await run(without(WORK, 'farm:post'), null, `  ${INTENT.toUpperCase()}`);
  expect(await outcomeOf(suggested.id)).toMatchObject({ verdict: 'rejected', left: ['farm:post'], came: [] });

  const again = await gateway.suggest(INTENT, AGENT);
  const ran = await gateway.executeCode(
    {
      code: again.plan.tasks.map(({ tool: id = '' }) => `await mcp.${id.replace(':', '.')}({});`).join(''),
      intent: INTENT,
    },
    AGENT,
  );
  await gateway.settled();
  expect(await outcomeOf(again.id)).toMatchObject({ verdict: 'accepted', runId: ran.runId });
});

test('[SUGG-3] [SUGG-4] removed tools are suggested less and then no more, also by the next gateway; all outcomes are counted', async () => {
  const store = createMemoryStore();
  const { gateway, run } = await farm(store);
  for (let times = 0; times < 3; times++) await run(WORK, null, INTENT, { sessionId: 'another' });
  const likely = `please ${INTENT}`;
  const chanceOf = ({ plan }: { plan: Plan }) =>
    plan.tasks.find((task) => task.tool === 'farm:post')?.confidence ?? 0;
  const before = await gateway.suggest(likely);
  const after = async () => {
    const { id } = await gateway.suggest(likely);
    await run(planOf([{ id: 'x', tool: 'farm:collect' }]), id, 'looking around');
    return await gateway.suggest(likely);
  };
  const once = await after();
  expect(chanceOf(once)).toBeLessThan(chanceOf(before));
  expect(once.confidence).toBeLessThan(before.confidence);
  for (let times = 0; times < 6; times++) await after();
  const last = await gateway.suggest(likely);
  expect(last.plan.tasks.map((task) => task.tool)).toEqual(['farm:collect']);

  const next = await farm(store);
  expect(await next.gateway.suggest(likely)).toMatchObject({
    plan: { tasks: last.plan.tasks.map(({ tool: name }) => ({ tool: name })) },
    confidence: expect.closeTo(last.confidence),
  });
  expect((await next.gateway.learning.report()).suggestions).toMatchObject({
    accepted: 2,
    edited: 5,
    rejected: 0,
  });
});
