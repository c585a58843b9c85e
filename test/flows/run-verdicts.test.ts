import { expect, test } from 'vitest';
import { findGoodRun } from '../../src/operations/find-good-run.ts';
import { operationContext } from '../../src/operations/operation-context.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { planOf } from '../support/workflow-plan.ts';

const INTENT = 'fetch the weekly figures and post them';
const WORK = planOf([
  { id: 'a', tool: 'desk:fetch', arguments: { week: '46' } },
  { id: 'b', tool: 'desk:post', arguments: { text: '${a.text}' }, dependsOn: ['a'] },
]);

function desk() {
  const needs = (name: string) => ({
    inputSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  });
  const tools = [
    tool('fetch', () => ({ text: 'figures of the 46th week, 3141 in all' }), {
      description: 'Fetches a page',
      ...needs('week'),
    }),
    tool('post', (args) => args, { description: 'Posts a message', ...needs('text') }),
    ...['paint', 'sing', 'cook'].map((name) =>
      tool(name, () => name, { description: `Can ${name}`, ...needs('how') }),
    ),
  ];
  return [{ name: 'desk', tools }];
}

test('[VERDICT-1] a verdict on a run is stored with it, with who and why, and can be withdrawn', async () => {
  const { gateway, ask, keyFor } = await peopleGateway();
  const operator = await keyFor('operator', 'ada');
  const agent = await keyFor('agent', 'bot');
  const { body: done } = await ask(agent, 'POST', '/api/execute', { tool: 'desk:echo', arguments: { a: 1 } });
  await gateway.settled();
  const path = `/api/runs/${done.run_id}/verdict`;
  expect((await ask(agent, 'POST', path, { good: true })).status).toBe(403);
  const said = await ask(operator, 'POST', path, { good: false, reason: ' the wrong file ' });
  expect(said.body).toEqual({
    trace_id: done.trace_id,
    verdict: { good: false, reason: 'the wrong file', by: 'ada', at: expect.any(String) },
  });
  const { body: seen } = await ask(agent, 'GET', `/api/traces/${done.trace_id}`);
  expect(seen.verdict).toEqual(said.body.verdict);
  await ask(operator, 'POST', path, { good: null });
  expect((await ask(agent, 'GET', `/api/traces/${done.trace_id}`)).body.verdict).toBeNull();
  const { body: log } = await ask(operator, 'GET', '/api/audit?action=run_rated');
  const details = { trace_id: done.trace_id, good: false, reason: 'the wrong file' };
  expect(log.entries).toMatchObject([
    { actor: 'ada', subject: done.run_id, details: { good: null } },
    { actor: 'ada', subject: done.run_id, details },
  ]);
  expect((await ask(operator, 'POST', '/api/runs/nowhere/verdict', { good: true })).status).toBe(404);
});

test('[VERDICT-2] a run that a person called bad is not suggested again, until a person calls it good', async () => {
  const { gateway, store } = await testGateway({ servers: desk() });
  const toolsFor = async () =>
    (await gateway.suggest(INTENT)).plan.tasks.filter((task) => task.dependsOn.length > 0).length;
  const run = await gateway.executeWorkflow(WORK, INTENT, NOBODY);
  await gateway.settled();
  expect(await toolsFor()).toBe(1);
  const trace = (await store.traces.list({ runId: run.runId, limit: 1 }))[0]!;
  await gateway.learning.judge(trace, { good: false, reason: null, by: 'ada' });
  expect(await toolsFor()).toBe(0);
  await gateway.learning.judge(trace, { good: true, reason: null, by: 'ada' });
  expect(await toolsFor()).toBe(1);
});

test('[VERDICT-3] a run is compared with the last good run of its kind', async () => {
  let isBroken = false;
  const servers = [
    {
      name: 'desk',
      tools: [
        tool('fetch', () => {
          if (isBroken) throw new Error('no such week');
          return 'figures';
        }),
      ],
    },
  ];
  const { gateway } = await testGateway({ servers });
  const context = operationContext(gateway, 'test');
  const get = (trace_id: string) => findGoodRun.run(context, { trace_id }, NOBODY);
  const once = async (intent: string) => {
    const { traceId } = await gateway.executeCode(
      { code: 'return await mcp.desk.fetch({})', intent },
      NOBODY,
    );
    await gateway.settled();
    return traceId!;
  };
  const first = await once('the figures');
  const second = await once('The  figures');
  await once('other work');
  isBroken = true;
  const failed = await once('the figures');
  expect(await get(failed)).toEqual({ trace_id: second, same: 'intent' });
  const trace = (await gateway.store.traces.get(second))!;
  await gateway.learning.judge(trace, { good: false, reason: null, by: 'ada' });
  expect(await get(failed)).toEqual({ trace_id: first, same: 'intent' });
  expect(await get(first)).toEqual({ trace_id: null, same: null });
});

test('[CALLS-3] over HTTP, calls of a private run are rows only for its owner and for those who may see everything', async () => {
  const { gateway, ask, keyFor } = await peopleGateway({ sharing: { traces: 'private' } });
  const [bot, eve, ada] = [
    await keyFor('agent', 'bot'),
    await keyFor('agent', 'eve'),
    await keyFor('operator', 'ada'),
  ];
  await ask(bot!, 'POST', '/api/execute', { tool: 'desk:echo', arguments: { a: 1 } });
  await gateway.settled();
  const seen = async (key: string) => {
    const { body: listed } = await ask(key, 'GET', '/api/calls?server=desk&limit=9');
    const { body: counted } = await ask(key, 'GET', '/api/calls/groups?by=error');
    const file = await ask(key, 'GET', '/api/calls?format=csv');
    return [listed.calls.length, counted.groups.length, file.body.includes('desk:echo')];
  };
  expect(await seen(bot!)).toEqual([1, 1, true]);
  expect(await seen(ada!)).toEqual([1, 1, true]);
  expect(await seen(eve!)).toEqual([0, 0, false]);
  expect((await ask(bot!, 'GET', '/api/calls?after=nonsense')).status).toBe(400);
});
