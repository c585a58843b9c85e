import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { routeRights } from '../../src/surfaces/http/create-app.ts';
import { OWNER_TOKEN } from '../support/http-gateway.ts';
import { callTool } from '../support/mcp-endpoints.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { readEvents } from '../support/read-events.ts';
import { settingsFor } from '../support/settings-for.ts';
import { tool } from '../support/test-gateway.ts';

const echo = (text: string, intent?: string) => ({
  tool: 'desk:echo',
  arguments: { text },
  ...(intent !== undefined && { intent }),
});
const WRITE = { tool: 'desk:write', arguments: { text: 'hello' } };

test('[KEY-3] every route of the gateway is in the table of rights', async () => {
  const { app } = await peopleGateway();
  const open = new Set(['/healthz', '/readyz', '/login']);
  const routes = app.routes.filter(({ path }) => !path.endsWith('*') && !open.has(path));
  expect(routes.length).toBeGreaterThan(20);
  const { isListed } = routeRights();
  const unlisted = routes.filter(({ method, path }) => !isListed(method === 'ALL' ? '*' : method, path));
  expect(unlisted.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

test('[KEY-3] a request without the right is refused before anything happens', async () => {
  const { ask, keyFor } = await peopleGateway();
  const keys = [await keyFor('viewer'), await keyFor('agent'), await keyFor('operator'), OWNER_TOKEN];
  const allowed = async (method: string, path: string, body?: unknown) => {
    const answers = await Promise.all(keys.map((key) => ask(key, method, path, body)));
    return answers.map(({ status }) => (status === 403 ? 'no' : 'yes')).join(' ');
  };
  expect(await allowed('GET', '/api/stats')).toBe('yes yes yes yes');
  expect(await allowed('GET', '/api/traces')).toBe('yes yes yes yes');
  expect(await allowed('POST', '/api/execute', echo('a'))).toBe('no yes yes yes');
  expect(await allowed('POST', '/api/suggest', { intent: 'echo' })).toBe('no yes yes yes');
  expect(await allowed('POST', '/mcp', {})).toBe('no yes yes yes');
  expect(await allowed('POST', '/mcp/servers/desk', {})).toBe('no yes yes yes');
  expect(await allowed('POST', '/api/runs/none/approve', {})).toBe('no no yes yes');
  expect(await allowed('POST', '/api/runs/none/edit', {})).toBe('no no yes yes');
  expect(await allowed('POST', '/api/capabilities/none/forget', {})).toBe('no no yes yes');
  expect(await allowed('POST', '/api/learning/rollback', {})).toBe('no no yes yes');
  expect(await allowed('GET', '/api/audit')).toBe('no no yes yes');
  expect(await allowed('GET', '/somewhere/else')).toBe('no no yes yes');
  expect(await allowed('POST', '/bridge')).toBe('no no no yes');
  const told = await ask(keys[0]!, 'POST', '/api/execute', echo('a'));
  expect(told.body.error).toMatchObject({
    code: 'forbidden',
    hint: expect.stringMatching(/pml keys create/),
  });
  const me = await ask(keys[1]!, 'GET', '/api/me');
  expect(me.body).toEqual({ name: 'agent', user: 'agent', role: 'agent', rights: ['read', 'run'] });
});

test('[KEY-4] a viewer key cannot approve', async () => {
  const { ask, keyFor, store } = await peopleGateway();
  const [agent, viewer] = [await keyFor('agent'), await keyFor('viewer')];
  const { run_id } = (await ask(agent, 'POST', '/api/execute', WRITE)).body;
  expect((await ask(viewer, 'GET', `/api/runs/${run_id}`)).body.approvals).toMatchObject([
    { state: 'pending' },
  ]);
  for (const decision of ['approve', 'reject', 'edit']) {
    expect((await ask(viewer, 'POST', `/api/runs/${run_id}/${decision}`, {})).status).toBe(403);
  }
  expect(await store.approvals.list({ runId: run_id, state: 'pending' })).toHaveLength(1);
});

test('[KEY-5] an agent key cannot approve its own request; an operator can, and then the agent continues', async () => {
  const { ask, keyFor, gateway } = await peopleGateway();
  const [agent, operator] = [await keyFor('agent'), await keyFor('operator', 'operator', 'ops')];
  const { run_id, status } = (await ask(agent, 'POST', '/api/execute', WRITE)).body;
  expect(status).toBe('approval_required');
  expect((await ask(agent, 'POST', `/api/runs/${run_id}/approve`)).status).toBe(403);
  expect((await ask(agent, 'POST', `/api/runs/${run_id}/resume`)).body.status).toBe('approval_required');
  expect(await gateway.people.audit({ limit: 9, subject: run_id })).toEqual([]);
  const approved = await ask(operator, 'POST', `/api/runs/${run_id}/approve`);
  expect(approved.body.approvals).toMatchObject([{ state: 'approved', settled_by: 'operator' }]);
  expect((await ask(agent, 'POST', `/api/runs/${run_id}/resume`)).body.status).toBe('success');
  const log = (await ask(operator, 'GET', `/api/audit?subject=${run_id}`)).body.entries;
  expect(log).toMatchObject([{ actor: 'operator', action: 'approved', hash: expect.any(String) }]);
});

test('[KEY-5] another agent cannot continue a run that is not its own', async () => {
  const { ask, keyFor } = await peopleGateway();
  const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
  const { run_id } = (await ask(ada, 'POST', '/api/execute', WRITE)).body;
  const other = await ask(bob, 'POST', `/api/runs/${run_id}/abort`);
  expect({ status: other.status, code: other.body.error.code }).toEqual({ status: 403, code: 'forbidden' });
  expect((await ask(ada, 'POST', `/api/runs/${run_id}/abort`)).body.status).toBe('aborted');
});

test('[KEY-5] an approval for one user does not apply to another user with the same call', async () => {
  const { ask, keyFor } = await peopleGateway();
  const [ada, bob, operator] = [
    await keyFor('agent', 'ada'),
    await keyFor('agent', 'bob'),
    await keyFor('operator'),
  ];
  const { run_id } = (await ask(ada, 'POST', '/api/execute', WRITE)).body;
  await ask(operator, 'POST', `/api/runs/${run_id}/approve`);
  expect((await ask(bob, 'POST', '/api/execute', WRITE)).body.status).toBe('approval_required');
  expect((await ask(ada, 'POST', '/api/execute', WRITE)).body.status).toBe('success');
});

test('[KEY-6] an agent key cannot read a private trace of another user: not in lists, by id, among runs or events', async () => {
  const { ask, keyFor, gateway, listener } = await peopleGateway({ sharing: { traces: 'private' } });
  const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
  const [viewer, operator] = [await keyFor('viewer'), await keyFor('operator')];
  const listening = async (key: string) => {
    const reply = await fetch(`${listener.url}/api/events`, { headers: { authorization: `Bearer ${key}` } });
    const events = readEvents(reply);
    onTestFinished(() => events.close());
    await events.next();
    return events;
  };
  const [heardByBob, heardByAda] = [await listening(bob), await listening(ada)];
  const secret = 'the salary of carol';
  const made = (await ask(ada, 'POST', '/api/execute', echo(secret, secret))).body;
  const waiting = (await ask(ada, 'POST', '/api/execute', { ...WRITE, intent: secret })).body;
  await gateway.settled();
  await gateway.events.emit({ type: 'inventory_changed', inventory: 'the end' });

  for (const key of [bob, viewer]) {
    expect((await ask(key, 'GET', '/api/traces')).body.traces).toEqual([]);
    expect((await ask(key, 'GET', `/api/traces/${made.trace_id}`)).status).toBe(404);
    expect((await ask(key, 'GET', '/api/runs')).body.runs).toEqual([]);
    expect((await ask(key, 'GET', `/api/runs/${waiting.run_id}`)).status).toBe(404);
    const explained = await ask(key, 'GET', '/api/search?q=salary&explain=1');
    expect(JSON.stringify(explained.body)).not.toContain('carol');
  }
  const resumed = await ask(bob, 'POST', `/api/runs/${waiting.run_id}/resume`);
  expect(resumed.status).toBe(404);
  for (const key of [ada, operator, OWNER_TOKEN]) {
    expect((await ask(key, 'GET', '/api/traces')).body.traces).toHaveLength(1);
    expect((await ask(key, 'GET', `/api/traces/${made.trace_id}`)).body).toMatchObject({
      owner: 'ada',
      visibility: 'private',
      intent_text: secret,
    });
    expect((await ask(key, 'GET', '/api/runs')).body.runs).toHaveLength(1);
  }

  const heard = async (events: ReturnType<typeof readEvents>) => {
    const all = [];
    for (let event = await events.next(); event; event = await events.next()) {
      all.push(event);
      if (JSON.stringify(event).includes('the end')) return JSON.stringify(all);
    }
    return '';
  };
  const bobs = await heard(heardByBob);
  expect(bobs).toContain('the end');
  expect(bobs).not.toContain('salary');
  expect(bobs).not.toContain(made.run_id);
  expect(await heard(heardByAda)).toContain('salary');
});

test('[KEY-6] everybody may see what is shared, which is everything by default', async () => {
  const { ask, keyFor, gateway } = await peopleGateway();
  const [ada, viewer] = [await keyFor('agent', 'ada'), await keyFor('viewer')];
  const made = (await ask(ada, 'POST', '/api/execute', echo('a', 'say a'))).body;
  await gateway.settled();
  const seen = await ask(viewer, 'GET', `/api/traces/${made.trace_id}`);
  expect(seen.body).toMatchObject({ owner: 'ada', visibility: 'shared', intent_text: 'say a' });
});

test('[KEY-7] a revoked key fails at once: on the next request, an open stream and an MCP session', async () => {
  const { ask, keyFor, gateway, listener } = await peopleGateway();
  const key = await keyFor('agent');
  const headers = { authorization: `Bearer ${key}` };
  const client = new Client({ name: 'test', version: '1' });
  const url = new URL(`${listener.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const called = await callTool(client, 'pml_execute', { tool: 'desk:echo', arguments: { text: 'a' } });
  expect(called.structuredContent.status).toBe('success');
  const events = readEvents(await fetch(`${listener.url}/api/events`, { headers }));
  expect((await events.next())?.event).toBe('hello');

  await gateway.people.revokeKey('agent', 'test');
  expect((await ask(key, 'GET', '/api/stats')).status).toBe(401);
  await expect(callTool(client, 'pml_execute', { tool: 'desk:echo', arguments: {} })).rejects.toThrow(
    /401|unauthor/i,
  );
  while ((await events.next()) !== null);
  const other = await keyFor('agent');
  expect((await ask(other, 'GET', '/api/stats')).status).toBe(200);
});

test('[KEY-17] a user who sends endless requests waits in a queue and is finally refused; other users are answered', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const slow = { name: 'slow', tools: [tool('wait', () => released)] };
  const { ask, keyFor, listener } = await peopleGateway({}, [slow]);
  const [eve, ada] = [await keyFor('agent', 'eve'), await keyFor('agent', 'ada')];
  const begun = Array.from({ length: 400 }, () => ask(eve, 'POST', '/api/execute', { tool: 'slow:wait' }));
  const refused = await Promise.race(begun);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
  expect((await ask(ada, 'POST', '/api/execute', echo('a'))).body).toMatchObject({ status: 'success' });

  // What has ended no longer counts, streams of MCP among it.
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${ada}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${listener.url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  for (let i = 0; i < 20; i++) {
    const called = await callTool(client, 'pml_execute', echo('a'));
    expect(called.structuredContent.status).toBe('success');
  }
  release();
  const statuses = (await Promise.all(begun.slice(0, 16))).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('[KEY-8] a key appears in no log, trace or event, wherever it was put', async () => {
  const { ask, keyFor, gateway, store, log, listener } = await peopleGateway();
  const key = await keyFor('agent');
  const seen: string[] = [];
  gateway.events.follow((event) => seen.push(JSON.stringify(event)));
  await ask(key, 'POST', '/api/execute', echo(`my key is ${key}`, `use ${key} to log in`));
  await ask(key, 'POST', '/api/execute', { code: `return "${key}"` });
  await ask(key, 'POST', '/api/execute', { ...WRITE, arguments: { key }, intent: key });
  await ask(OWNER_TOKEN, 'GET', `/api/traces/${key}`);
  await ask(OWNER_TOKEN, 'POST', `/api/capabilities/${key}/run`, {});
  await fetch(`${listener.url}/mcp/servers/${key}`, { headers: { authorization: `Bearer ${key}` } });
  await ask(`${key.slice(0, -1)}x`, 'GET', '/api/stats');
  await gateway.settled();
  const traces = await store.traces.list({ limit: 99 });
  expect(traces.length).toBeGreaterThan(1);
  const kept = [traces, await store.runs.list(9), await store.approvals.list({}), await store.keys.list()];
  for (const text of [JSON.stringify(kept), seen.join(), log()]) expect(text).not.toContain(key.slice(4));
  const audit = JSON.stringify(await store.audit.list({ limit: 99 }));
  expect(audit).toContain('key_created');
  expect(audit).not.toContain(key.slice(4));
});

test('[KEY-9] a browser session has the role of its key, and ends with it', async () => {
  const { keyFor, gateway, access, listener } = await peopleGateway();
  const key = await keyFor('viewer');
  const reply = await fetch(`${listener.url}/login`, { method: 'POST', body: new URLSearchParams({ key }) });
  const { session } = (await reply.json()) as { session: string };
  expect(session).not.toContain(key.slice(4));
  const [kept] = await gateway.people.keys();
  const linked = await access.redeemLoginCode(access.createLoginCode(kept));
  const sessions = [session, String(linked?.secret)];
  const get = async (path: string, secret: string, method = 'GET') =>
    await fetch(`${listener.url}${path}`, { method, headers: { authorization: `Bearer ${secret}` } });
  for (const secret of sessions) {
    expect(await (await get('/api/me', secret)).json()).toMatchObject({ role: 'viewer' });
    expect((await get('/api/learning/rollback', secret, 'POST')).status).toBe(403);
  }
  const forged = session.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect((await get('/api/me', forged)).status).toBe(401);
  await gateway.people.revokeKey('viewer', 'test');
  for (const secret of sessions) expect((await get('/api/me', secret)).status).toBe(401);
  const wrong = { method: 'POST', body: new URLSearchParams({ key: 'pml_no' }) };
  expect((await fetch(`${listener.url}/login`, wrong)).status).toBe(403);
});

test('[KEY-10] an MCP session belongs to the key that opened it', async () => {
  const { keyFor, listener } = await peopleGateway();
  const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
  const post = (key: string, body: unknown, session?: string) =>
    fetch(`${listener.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify(body),
    });
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post(ada, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id') ?? '';
  await opened.body?.cancel();
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  expect((await post(bob, list, session)).status).toBe(404);
  expect((await post(ada, list, session)).status).toBe(200);
});

test("[KEY-18] no header lets a key write into another user's session", async () => {
  const { keyFor, listener, gateway, store } = await peopleGateway();
  for (const key of [await keyFor('agent', 'bob'), OWNER_TOKEN]) {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${key}`, 'x-pml-client': 'session-of-ada' };
    const url = new URL(`${listener.url}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    onTestFinished(() => client.close());
    await callTool(client, 'pml_execute', { tool: 'desk:echo', arguments: { a: 1 } });
  }
  await gateway.settled();
  const [ofBridge, ofBob] = await store.traces.list({ limit: 9 });
  expect(ofBridge?.sessionId).toBe('session-of-ada');
  expect(ofBob?.sessionId).not.toBe('session-of-ada');
});

test('[KEY-19] over MCP even the owner has only the rights of an agent', async () => {
  const { ask, keyFor, listener } = await peopleGateway();
  const { run_id } = (await ask(await keyFor('agent', 'ada'), 'POST', '/api/execute', WRITE)).body;
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${OWNER_TOKEN}` };
  const url = new URL(`${listener.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const aborted = await callTool(client, 'pml_execute_workflow', { run_id, action: 'abort' });
  expect(aborted).toMatchObject({ isError: true, structuredContent: { error: { code: 'forbidden' } } });
  expect((await ask(OWNER_TOKEN, 'POST', `/api/runs/${run_id}/abort`)).body.status).toBe('aborted');
});

test('[KEY-11] knowledge from private runs contains no words, values or code of theirs', async () => {
  const code =
    'const r = await mcp.desk.echo({text: "the salary of carol"}); return r.text.split(" ").length';
  const learn = async (traces: 'private' | 'shared') => {
    const { ask, keyFor, gateway } = await peopleGateway({ sharing: { traces } });
    const [ada, bob] = [await keyFor('agent', 'ada'), await keyFor('agent', 'bob')];
    for (const intent of ['salary of carol', 'salary of carol, again']) {
      const ran = (await ask(ada, 'POST', '/api/execute', { code, intent })).body;
      expect(ran.status).toBe('success');
      await gateway.settled();
    }
    const paths = ['/api/capabilities', '/api/graph', '/api/search?q=salary&explain=1', '/api/learning'];
    const seen = await Promise.all(paths.map((path) => ask(bob, 'GET', path)));
    const suggested = await ask(bob, 'POST', '/api/suggest', { intent: 'salary' });
    return JSON.stringify([seen.map(({ body }) => body), suggested.body.plan]);
  };
  expect(await learn('shared')).toContain('carol');
  const seen = await learn('private');
  expect(seen).toContain('desk:echo');
  expect(seen).not.toContain('carol');
});

test('[KEY-12] a call uses the credentials of the user whose key sent it', async () => {
  const users: (string | null)[] = [];
  const whoami = {
    definition: { name: 'whoami', inputSchema: { type: 'object' } },
    call: async (_args: unknown, { user }: { readonly user: string | null }) => {
      users.push(user);
      return { content: [{ type: 'text' as const, text: JSON.stringify({ user }) }] };
    },
  };
  const own = { name: 'own', tools: [whoami], settings: { credentials: 'per_user' as const } };
  const { ask, keyFor, gateway } = await peopleGateway({}, [own]);
  const [ada, bob] = [await keyFor('agent', 'ada-laptop', 'ada'), await keyFor('agent', 'bob')];
  await gateway.keepCredentials('own', 'ada', { env: { TOKEN: 'x' } });
  const call = { tool: 'own:whoami', arguments: {} };
  const code = { code: 'return await mcp.own.whoami({})' };
  expect((await ask(ada, 'POST', '/api/execute', call)).body).toMatchObject({ result: { user: 'ada' } });
  expect((await ask(ada, 'POST', '/api/execute', code)).body).toMatchObject({ result: { user: 'ada' } });
  const refused = (await ask(bob, 'POST', '/api/execute', call)).body;
  expect(refused).toMatchObject({ status: 'error', error: { code: 'unauthorized' } });
  expect(users).toEqual(['ada', 'ada']);
});

test('[KEY-12] a run that another person continues still belongs to its user, with their credentials', async () => {
  const users: (string | null)[] = [];
  const write = {
    definition: { name: 'write', inputSchema: { type: 'object' } },
    call: async (_args: unknown, { user }: { readonly user: string | null }) => {
      users.push(user);
      return { content: [] };
    },
  };
  const own = { name: 'own', tools: [write], settings: { credentials: 'per_user' as const } };
  const { permissions } = settingsFor([]);
  const asks = { ...permissions, ask: ['own:*'], approvalWaitMs: 0 };
  const { ask, keyFor, gateway, store } = await peopleGateway({ permissions: asks }, [own]);
  const [ada, operator] = [await keyFor('agent', 'ada'), await keyFor('operator', 'olga')];
  await gateway.keepCredentials('own', 'ada', { env: { TOKEN: 'x' } });
  const workflow = { tasks: [{ id: 't', tool: 'own:write', arguments: {} }] };
  const asked = [
    await ask(ada, 'POST', '/api/execute', { tool: 'own:write', arguments: { n: 1 } }),
    await ask(ada, 'POST', '/api/execute', { code: 'return await mcp.own.write({ n: 2 })' }),
    await ask(ada, 'POST', '/api/workflows', { workflow }),
  ];
  for (const { body } of asked) {
    expect(body.status).toBe('approval_required');
    await ask(operator, 'POST', `/api/runs/${body.run_id}/approve`);
    const resumed = await ask(operator, 'POST', `/api/runs/${body.run_id}/resume`);
    expect(resumed.body.status).toBe('success');
  }
  expect(users).toEqual(['ada', 'ada', 'ada']);
  await gateway.settled();
  const owners = (await store.traces.list({ limit: 9 })).map(({ owner }) => owner);
  expect(new Set(owners)).toEqual(new Set(['ada']));
});

test('[KEY-21] the last use of a key is listed, and many uses are written once', async () => {
  const { ask, keyFor, gateway } = await peopleGateway();
  const noted = vi.spyOn(gateway.store.usage, 'noteUse');
  const [used] = [await keyFor('agent', 'used'), await keyFor('viewer', 'idle')];
  const began = Date.now();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(used, 'GET', '/api/me')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(noted).toHaveBeenCalledTimes(1);
  await Promise.all(noted.mock.results.map(({ value }) => value));
  const { keys } = (await ask(OWNER_TOKEN, 'POST', '/api/operations/list_keys', {})).body;
  const last = Object.fromEntries(
    keys.map((key: { name: string; last_used_at: string | null }) => [key.name, key.last_used_at]),
  );
  expect(last).toEqual({ used: expect.any(String), idle: null });
  expect(Date.parse(last.used)).toBeGreaterThanOrEqual(began);
});
