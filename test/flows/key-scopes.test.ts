import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { FULL_SCOPE, type KeyScope } from '../../src/core/vocabulary/principal.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { MemoryServer, MemoryTool } from '../memory/upstream-server.ts';
import { OWNER_TOKEN } from '../support/http-gateway.ts';
import { callTool, rawRequest } from '../support/mcp-endpoints.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { tool } from '../support/test-gateway.ts';

const READS = { annotations: { readOnlyHint: true, openWorldHint: false } };
const DESK: KeyScope = { ...FULL_SCOPE, tools: { allow: ['desk:*', 'shelf:*'], deny: ['shelf:burn'] } };

/** A `vault` that a key of scope `DESK` is not to know of, and a `shelf` of which it may use one tool. */
async function office(over: Parameters<typeof peopleGateway>[0] = {}) {
  const calls: string[] = [];
  const noted = (name: string, more: JsonObject = {}): MemoryTool => {
    const { definition, call } = tool(name, () => calls.push(name), more);
    const told: MemoryTool['call'] = (args, { notify }) => {
      notify('notifications/message', { level: 'error', data: `${name} was called` });
      return call(args);
    };
    return { definition, call: told };
  };
  const vault: MemoryServer = {
    name: 'vault',
    tools: [noted('open_safe', { description: 'Open the safe and read the gold', ...READS })],
    identity: { instructions: 'The vault of gold', capabilities: { tools: {}, prompts: {}, resources: {} } },
    requests: {
      'prompts/list': () => ({ prompts: [{ name: 'rob_vault' }] }),
      'prompts/get': () => ({ messages: [] }),
      'resources/list': () => ({ resources: [{ uri: 'gold://vault', name: 'vault' }] }),
      'resources/read': () => ({ contents: [{ uri: 'gold://vault', text: 'gold' }] }),
    },
  };
  const shelf: MemoryServer = {
    name: 'shelf',
    tools: [noted('look', { description: 'Look at the books', ...READS }), noted('burn')],
  };
  const made = await peopleGateway(over, [vault, shelf]);
  const wide = await made.keyFor('agent', 'wide', 'ada');
  const narrow = await made.keyFor('agent', 'narrow', 'ada', DESK);
  const connect = async (key: string, path = '/mcp') => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    const url = new URL(path, made.listener.url);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    onTestFinished(() => client.close());
    return client;
  };
  return { ...made, calls, wide, narrow, connect };
}

/** What keys without a scope have done with the vault, so that everything learned knows of it. */
async function robbery({ ask, wide, gateway }: Awaited<ReturnType<typeof office>>): Promise<string> {
  const code = `const first = await mcp.shelf.look({});
    const gold = await mcp.vault.open_safe({ first });
    return [await mcp.shelf.look({ gold })]`;
  for (let i = 0; i < 3; i++) {
    const ran = await ask(wide, 'POST', '/api/execute', { code, intent: 'look for the gold' });
    expect(ran.body.status).toBe('success');
    await gateway.settled();
  }
  const { capabilities } = (await ask(wide, 'GET', '/api/capabilities')).body;
  return capabilities[0].slug;
}

test('[SCOPE-2] nothing that a key sends reaches a tool outside its scope: tool, code, capability, plan, intent', async () => {
  const all = await office();
  const { ask, narrow, calls, gateway } = all;
  const slug = await robbery(all);
  calls.length = 0;
  const run = async (body: unknown, path = '/api/execute') => (await ask(narrow, 'POST', path, body)).body;
  for (const name of ['vault:open_safe', 'vault__open_safe', 'mcp__vault__open_safe', 'vault.open_safe'])
    expect((await run({ tool: name, arguments: {} })).error).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('outside what key "narrow" may use'),
      hint: expect.stringContaining('pml_search_tools'),
    });
  // A bare name is of no tool that this key has.
  expect((await run({ tool: 'open_safe', arguments: {} })).status).toBe('error');
  expect((await run({ tool: 'shelf:burn', arguments: {} })).error.code).toBe('forbidden');
  for (const code of [
    'return await mcp.vault.open_safe({})',
    'const s = "va" + "ult"; return await mcp[s]["open" + "_safe"]({})',
    'return await Promise.all([mcp.shelf.look({}), mcp.shelf["bu" + "rn"]({})])',
    `return await capabilities.${slug}({})`,
  ])
    for (const as_plan of [false, true]) expect((await run({ code, as_plan })).status).not.toBe('success');
  const caught =
    'try { return await mcp.vault.open_safe({}) } catch (error) { return String(error.message) }';
  expect((await run({ code: caught })).result).toContain('outside what key');
  expect((await run({ capability: slug })).error.code).toBe('not_found');
  expect((await run({}, `/api/capabilities/${slug}/run`)).error.code).toBe('not_found');
  const plans: JsonObject[] = [
    { tool: 'vault:open_safe', arguments: {} },
    { capability: slug, arguments: {} },
    { code: 'return await mcp["vault"].open_safe({})', arguments: {} },
  ];
  for (const task of plans) {
    const made = await run({ workflow: { tasks: [{ id: 't', ...task }] } }, '/api/workflows');
    expect(made.status).not.toBe('success');
  }
  const self = await run({ intent: 'look for the gold' });
  expect(JSON.stringify(self)).not.toContain('vault');
  const { id } = await gateway.suggest('look for the gold');
  expect((await run({ suggestion_id: id }, '/api/workflows')).status).not.toBe('success');
  expect(calls.filter((name) => name !== 'look')).toEqual([]);
});

test('[SCOPE-2] neither does the native lane, a transparent endpoint, the bridge, or a fork of another key’s run', async () => {
  const all = await office();
  const { ask, narrow, wide, calls, connect, listener } = all;
  await robbery(all);
  calls.length = 0;
  const native = await connect(narrow, '/mcp/all?meta=1');
  for (const name of ['vault__open_safe', 'vault:open_safe', 'shelf__burn'])
    expect((await callTool(native, name, {})).isError).toBe(true);
  const meta = await callTool(native, 'pml_execute', { tool: 'vault:open_safe' });
  expect(meta.content[0]!.text).toContain('forbidden: vault:open_safe is outside');
  expect((await callTool(native, 'shelf__look', {})).isError).not.toBe(true);
  await expect(connect(narrow, '/mcp/servers/vault')).rejects.toThrow('not found');
  const shelf = await connect(narrow, '/mcp/servers/shelf');
  expect((await shelf.listTools()).tools.map(({ name }) => name)).toEqual(['look']);
  expect((await callTool(shelf, 'burn', {})).content[0]!.text).toContain('outside what key');
  const client = await connect(narrow);
  await expect(rawRequest(client, 'prompts/get', { name: 'vault:rob_vault' })).rejects.toThrow('outside');
  await expect(rawRequest(client, 'resources/read', { uri: 'pml://vault/gold://vault' })).rejects.toThrow(
    'outside',
  );
  const bridged = { operation: 'execute', input: { tool: 'vault:open_safe' }, user: 'ada' };
  expect((await ask(narrow, 'POST', '/bridge', bridged)).status).toBe(403);
  const [trace] = (await ask(wide, 'GET', '/api/traces')).body.traces;
  for (const [method, path] of [
    ['GET', `/api/traces/${trace.id}`],
    ['POST', `/api/traces/${trace.id}/replay`],
    ['POST', `/api/runs/${trace.run_id}/fork`],
    ['GET', '/api/traces'],
    ['GET', '/api/live'],
    ['GET', '/api/stats'],
    ['GET', '/metrics'],
    ['GET', '/api/events'],
  ] as const) {
    const refused = await ask(narrow, method, path, method === 'POST' ? {} : undefined);
    expect([path, refused.status]).toEqual([path, 403]);
  }
  expect((await fetch(`${listener.url}/healthz`)).status).toBe(200);
  expect(calls).toEqual(['look']);
});

test('[SCOPE-3] a key does not see what it may not use: search, suggest, next, graph, types, servers, instructions', async () => {
  const all = await office();
  const { ask, narrow, wide, connect } = all;
  const slug = await robbery(all);
  const seen = async (key: string): Promise<Record<string, string>> => {
    const get = async (path: string) => JSON.stringify((await ask(key, 'GET', path)).body);
    const post = async (path: string, body: unknown) =>
      JSON.stringify((await ask(key, 'POST', path, body)).body);
    const [client, native] = [await connect(key), await connect(key, '/mcp/all')];
    const search = { query: 'open the safe and look at books', include_related: true, limit: 20 };
    return {
      search: await get('/api/search?q=open+the+safe+vault+books&include_related=1&explain=1&capabilities=1'),
      found: JSON.stringify(await callTool(client, 'pml_search_tools', search)),
      routines: JSON.stringify(
        await callTool(client, 'pml_search_capabilities', { query: 'look for the gold' }),
      ),
      suggest: await post('/api/suggest', { intent: 'look for the gold' }),
      next: await post('/api/next', { intent: 'look for the gold', executed: ['shelf:look'] }),
      begun: await post('/api/next', { intent: 'open the safe', executed: [] }),
      otherWords: await post('/api/suggest', { intent: 'open the safe and look at the books' }),
      graph: await get('/api/graph'),
      types: await get('/api/types'),
      servers: await get('/api/servers'),
      capabilities: await get('/api/capabilities'),
      instructions: `${client.getInstructions()} ${native.getInstructions()}`,
      native: JSON.stringify(await native.listTools()),
      prompts: JSON.stringify(await rawRequest(client, 'prompts/list')),
      resources: JSON.stringify(await rawRequest(client, 'resources/list')),
      skills: JSON.stringify(await rawRequest(client, 'skills/list')),
    };
  };
  const [known, hidden] = [await seen(wide), await seen(narrow)];
  const tells = (text: string) => /vault|open_safe/.test(text) || text.includes(slug.replaceAll('_', '-'));
  for (const [where, text] of Object.entries(known)) expect([where, tells(text)]).toEqual([where, true]);
  for (const [where, text] of Object.entries(hidden)) {
    expect([where, tells(text)]).toEqual([where, false]);
    expect([where, text.includes('burn')]).toEqual([where, false]);
  }
  for (const where of ['search', 'found', 'graph', 'types', 'servers', 'native'])
    expect([where, hidden[where]!.includes('shelf')]).toEqual([where, true]);
  expect(hidden.instructions).toContain('2 servers, 3 tools: desk (2), shelf (1)');
  // Whether there is such a tool cannot be told from a refusal.
  const words = async (path: string) => JSON.stringify((await ask(narrow, 'GET', path)).body);
  expect((await words('/api/graph/nodes/vault%3Aopen_safe')).replaceAll('open_safe', 'x')).toBe(
    (await words('/api/graph/nodes/vault%3Aopen_sofa')).replaceAll('open_sofa', 'x'),
  );
  const next = await ask(narrow, 'POST', '/api/next', { intent: 'x', executed: ['vault:open_safe'] });
  expect(next.body.error.code).toBe('not_found');
});

test('[SCOPE-3] a client receives nothing from a server that its key may not use', async () => {
  const { ask, narrow, wide, connect } = await office();
  const heard: unknown[] = [];
  const client = await connect(narrow);
  client.fallbackNotificationHandler = async ({ params }) => void heard.push(params?.data);
  await client.setLoggingLevel('debug');
  for (const name of ['vault:open_safe', 'shelf:look'])
    await ask(wide, 'POST', '/api/execute', { tool: name, arguments: {} });
  await expect.poll(() => heard).toContain('look was called');
  expect(heard).toEqual(['look was called']);
});

test('[SCOPE-7] a run stays within the scope of the key that began it, whoever resumes it, and another key of its user cannot', async () => {
  const { ask, narrow, wide, calls, gateway, keyFor, store } = await office();
  const operator = await keyFor('operator', 'olga');
  const tasks = [
    { id: 'a', tool: 'desk:write', arguments: {} },
    { id: 'b', tool: 'vault:open_safe', arguments: {}, depends_on: ['a'] },
  ];
  const { run_id } = (await ask(wide, 'POST', '/api/workflows', { workflow: { tasks } })).body;
  expect((await store.runs.get(run_id))?.begunWith).toEqual({ keyId: expect.any(String) });
  for (const action of ['resume', 'abort'])
    expect((await ask(narrow, 'POST', `/api/runs/${run_id}/${action}`)).status).toBe(404);
  expect((await ask(narrow, 'GET', `/api/runs/${run_id}`)).status).toBe(404);
  await gateway.people.setScope('wide', DESK, 'test');
  await ask(operator, 'POST', `/api/runs/${run_id}/approve`);
  const resumed = (await ask(operator, 'POST', `/api/runs/${run_id}/resume`)).body;
  expect(resumed.results).toMatchObject({ a: { status: 'success' }, b: { status: 'error' } });
  expect(JSON.stringify(resumed.results.b)).toContain('outside what key');
  expect(calls).toEqual([]);
});

test('[SCOPE-9] a run that PML repeats by itself calls only what the original run called with success', async () => {
  const { ask, narrow, wide, calls, gateway } = await office();
  const code = `const books = [await mcp.shelf.look({ row: 1 }), await mcp.shelf.look({ row: 2 })];
    try { books.push(await mcp.vault.open_safe({})) } catch {}
    return books`;
  const run = async (key: string, body: JsonObject) => {
    expect((await ask(key, 'POST', '/api/execute', body)).body.status).toBe('success');
    await gateway.settled();
  };
  await run(narrow, { code, intent: 'look at two rows of books' });
  expect(calls).toEqual(['look', 'look', 'look', 'look']);
  await run(wide, { code: code.replace('row: 2', 'row: 3'), intent: 'look at other rows of books' });
  expect(calls).toContain('open_safe');
});

test('[SCOPE-8] a lane decides what clients of a key see, at whatever address', async () => {
  const { keyFor, connect, narrow } = await office();
  const names = async (key: string, path: string) =>
    (await (await connect(key, path)).listTools()).tools.map(({ name }) => name);
  const native = await keyFor('agent', 'n', 'n', { ...DESK, lane: 'native' });
  const both = await keyFor('agent', 'b', 'b', { ...DESK, lane: 'both' });
  const search = await keyFor('agent', 's', 's', { ...DESK, lane: 'search' });
  const tools = ['desk__echo', 'desk__write', 'shelf__look'];
  expect(await names(native, '/mcp')).toEqual(tools);
  expect((await names(both, '/mcp')).slice(-4)).toEqual(['pml_execute_workflow', ...tools]);
  expect((await names(search, '/mcp/all'))[0]).toBe('pml_search_tools');
  expect(await names(narrow, '/mcp/all')).toEqual(tools);
  expect((await names(narrow, '/mcp'))[0]).toBe('pml_search_tools');
});

test('[SCOPE-1] only the owner sets a scope; it applies from the next request, also in an open session, and is shown', async () => {
  const { ask, wide, connect, gateway, keyFor } = await office();
  const client = await connect(wide);
  const open = async () => (await callTool(client, 'pml_execute', { tool: 'vault:open_safe' })).isError;
  expect(await open()).not.toBe(true);
  const order = { name: 'wide', scope: { tools: { deny: ['vault:*'] } } };
  for (const key of [wide, await keyFor('operator')])
    expect((await ask(key, 'POST', '/api/operations/set_key_scope', order)).status).toBe(403);
  expect((await ask(OWNER_TOKEN, 'POST', '/api/operations/set_key_scope', order)).body.scope).toEqual({
    tools: { allow: ['*'], deny: ['vault:*'] },
    servers: { allow: ['*'], deny: [] },
    limits: [],
    loops: 8,
    lane: null,
  });
  expect(await open()).toBe(true);
  expect((await ask(wide, 'GET', '/api/me')).body.scope.tools).toEqual({ allow: ['*'], deny: ['vault:*'] });
  const [entry] = await gateway.people.audit({ limit: 1, action: 'scope_changed' });
  expect(entry).toMatchObject({ actor: 'api', details: { name: 'wide', scope: { loops: 8 } } });
  const wrong = { name: 'wide', scope: { limits: [{ unit: 'calls', per: 'year', most: 1 }] } };
  expect((await ask(OWNER_TOKEN, 'POST', '/api/operations/set_key_scope', wrong)).status).toBe(400);
  const none = { name: 'wide', scope: null };
  await ask(OWNER_TOKEN, 'POST', '/api/operations/set_key_scope', none);
  expect(await open()).not.toBe(true);
});
