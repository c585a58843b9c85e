import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import type { Gateway } from '../../src/engine/gateway.ts';
import { callTool } from '../support/mcp-endpoints.ts';
import { peopleGateway } from '../support/people-gateway.ts';

test('[KEY-14] [KEY-11] a capability learned from private runs is available to its user and operators only, under any of its names', async () => {
  const { ask, keyFor, gateway, listener } = await peopleGateway({ sharing: { traces: 'private' } });
  const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
  const [operator, viewer] = [await keyFor('operator', 'olga'), await keyFor('viewer', 'vera')];
  const heard: [string, string | null, string][] = [];
  gateway.events.follow(({ event, ownership }) => {
    if (event.type === 'capability_changed') heard.push([event.state, ownership.owner, ownership.visibility]);
  });
  await learnSalaries(ask, ada, gateway);
  const slug = (await ask(ada, 'GET', '/api/capabilities')).body.capabilities[0].slug as string;
  expect(heard.every(([, owner, visibility]) => owner === 'ada' && visibility === 'private')).toBe(true);

  // What worked twice is not searched for yet.
  for (let times = 0; times < 5; times++) await ask(ada, 'POST', '/api/execute', { capability: slug });
  await gateway.settled();
  const program = { code: `return await capabilities.${slug}({})` };
  const plan = { tasks: [{ id: 't', capability: slug, arguments: {} }] };
  for (const [key, isSeen] of [
    [ada, true],
    [operator, true],
    [bob, false],
    [viewer, false],
  ] as const) {
    const listed = (await ask(key, 'GET', '/api/capabilities')).body.capabilities as { slug: string }[];
    expect(listed.map((one) => one.slug)).toEqual(isSeen ? [slug] : []);
    const one = await ask(key, 'GET', `/api/capabilities/${slug}`);
    expect(one.status).toBe(isSeen ? 200 : 404);
    for (const part of ['runs', 'export'])
      expect((await ask(key, 'GET', `/api/capabilities/${slug}/${part}`)).status).toBe(isSeen ? 200 : 404);
    const found = await ask(key, 'GET', '/api/search?q=salary+of+carol&capabilities=1');
    expect((found.body.capabilities as object[]).length > 0).toBe(isSeen);
    if (key === viewer) continue;
    const suggested = await ask(key, 'POST', '/api/suggest', { intent: 'salary of carol' });
    expect(JSON.stringify(suggested.body).includes(slug)).toBe(isSeen);
    // No other user learns what a private run was about, not even as a reason.
    expect(suggested.body.plan.tasks[0].reason).toMatch(/^used in \d+ of the \d+ past runs most similar$/);
    for (const work of [program, { capability: slug }]) {
      const ran = (await ask(key, 'POST', '/api/execute', work)).body;
      expect([ran.status, ran.error?.code]).toEqual(isSeen ? ['success', undefined] : ['error', 'not_found']);
    }
    const planned = await ask(key, 'POST', '/api/workflows', { workflow: plan });
    expect(planned.body.status === 'success').toBe(isSeen);
  }
  for (const [key, isSeen] of [
    [ada, true],
    [bob, false],
  ] as const) {
    const client = await connect(listener.url, key);
    const found = await callTool(client, 'pml_search_capabilities', { query: 'salary of carol' });
    expect(JSON.stringify(found).includes(slug)).toBe(isSeen);
    const ran = await callTool(client, 'pml_execute', { capability: slug });
    expect(ran.structuredContent?.status).toBe(isSeen ? 'success' : 'error');
    expect(JSON.stringify(await client.listResources())).not.toContain('carol');
  }
  expect(JSON.stringify(await gateway.graph.view())).not.toContain(slug);
  // The suggested nearest name is none of hers.
  expect(JSON.stringify((await ask(bob, 'GET', `/api/capabilities/${slug}x`)).body)).not.toContain('carol,');

  // Of bob's own runs of the same code he has one of his own.
  await learnSalaries(ask, bob, gateway);
  const his = (await ask(bob, 'GET', '/api/capabilities')).body.capabilities as { slug: string }[];
  expect(his.map((one) => one.slug)).toHaveLength(1);
  expect(his[0]?.slug).not.toBe(slug);
});

test('[KEY-15] [AUDIT-5] its user or an operator shares a capability, and an operator makes it private again', async () => {
  const { ask, keyFor, gateway } = await peopleGateway({ sharing: { traces: 'private' } });
  const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
  const operator = await keyFor('operator', 'olga');
  await learnSalaries(ask, ada, gateway);
  const slug = (await ask(ada, 'GET', '/api/capabilities')).body.capabilities[0].slug as string;
  const run = async (key: string) =>
    (await ask(key, 'POST', '/api/execute', { capability: slug })).body.status;

  expect((await ask(bob, 'POST', `/api/capabilities/${slug}/share`)).status).toBe(404);
  const shared = await ask(ada, 'POST', `/api/capabilities/${slug}/share`);
  expect(shared.body).toMatchObject({ slug, owner: 'ada', visibility: 'shared' });
  expect(await run(bob)).toBe('success');

  const path = `/api/capabilities/${slug}/keep-private`;
  expect((await ask(bob, 'POST', path, {})).status).toBe(403);
  const heard: [string, string][] = [];
  gateway.events.follow(({ event, ownership }) => {
    if (event.type === 'capability_changed') heard.push([event.state, ownership.visibility]);
  });
  expect((await ask(operator, 'POST', path, {})).body).toMatchObject({ owner: 'ada', visibility: 'private' });
  expect(heard).toEqual([
    ['forgotten', 'shared'],
    ['active', 'private'],
  ]);
  expect([await run(ada), await run(bob)]).toEqual(['success', 'error']);
  expect((await ask(operator, 'POST', path, { user: 'bob' })).body).toMatchObject({ owner: 'bob' });
  expect([await run(ada), await run(bob)]).toEqual(['error', 'success']);

  const { entries } = (await ask(operator, 'GET', '/api/audit?action=sharing_changed')).body;
  const told = (entries as { actor: string; details: object }[]).map(({ actor, details }) => ({
    actor,
    ...details,
  }));
  expect(told).toEqual([
    { actor: 'olga', slug, owner: 'bob', visibility: 'private' },
    { actor: 'olga', slug, owner: 'ada', visibility: 'private' },
    { actor: 'ada', slug, owner: 'ada', visibility: 'shared' },
  ]);
});

async function connect(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** The same program twice: it has a name then. */
async function learnSalaries(
  ask: Awaited<ReturnType<typeof peopleGateway>>['ask'],
  key: string,
  gateway: Gateway,
): Promise<void> {
  const code =
    'const salaryOfCarol = await mcp.desk.echo({text: "the salary of carol"}); return salaryOfCarol.text.split(" ").length';
  for (const intent of ['salary of carol', 'salary of carol, again']) {
    expect((await ask(key, 'POST', '/api/execute', { code, intent })).body.status).toBe('success');
    await gateway.settled();
  }
}
