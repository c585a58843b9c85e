import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { Caller } from '../../src/engine/gateway.ts';
import type { JsonObject, Settings } from '../../src/engine/ports.ts';
import { stdioServer } from '../contracts/upstream-support.ts';
import { gatewayOver } from '../support/gateway-over.ts';
import { benchServer } from '../support/mcp-bench-server.ts';
import {
  type ConnectOptions,
  callTool,
  connectClient,
  ERAS,
  type Era,
  fetchInto,
  openEndpoints,
  rawRequest,
} from '../support/mcp-endpoints.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway } from '../support/test-gateway.ts';

async function open(options: Omit<ConnectOptions, 'path'>, settings: Partial<Settings> = {}) {
  const bench = benchServer();
  const { gateway, store } = await testGateway({ servers: [bench], settings });
  const endpoints = openEndpoints(gateway);
  const fetcher = fetchInto(endpoints);
  const client = await connectClient(fetcher, { ...options, path: '/mcp/servers/bench' });
  return { client, gateway, store, fetcher, bench };
}

describe.each(ERAS)('/mcp/servers/<name>, %s', (era) => {
  test('[MCP-20] is the server itself: its name, capabilities, instructions and tools', async () => {
    const { client } = await open({ era });
    expect(client.getServerVersion()).toMatchObject({
      name: 'bench-server',
      version: '1.2.3',
      title: 'The bench',
    });
    expect(client.getServerCapabilities()).toMatchObject({
      experimental: { 'bench/extra': {} },
      completions: {},
    });
    expect(client.getInstructions()).toBe('Try things.');
    const { tools } = (await rawRequest(client, 'tools/list')) as { tools: JsonObject[] };
    expect(tools[0]).toEqual({
      name: 'echo',
      description: 'Says back what it is given',
      inputSchema: { type: 'object', additionalProperties: true },
      _meta: { 'bench/unknown': true },
      'bench/field': 1,
    });
  });

  test('[MCP-20] names, parameters, results and errors pass unchanged', async () => {
    const { client } = await open({ era });
    const echoed = await callTool(client, 'echo', { text: 'hi', deep: { list: [1, null] } });
    expect(echoed).toMatchObject({
      content: [{ type: 'text', text: 'hi' }],
      structuredContent: { echoed: { text: 'hi', deep: { list: [1, null] } } },
      'bench/extra': 1,
    });
    expect(await callTool(client, 'fail', {})).toMatchObject({ isError: true });
    await expect(callTool(client, 'reject', {})).rejects.toMatchObject({
      code: -32050,
      message: 'rejected',
      data: { because: 'of a test' },
    });
    await expect(callTool(client, 'no_such_tool', {})).rejects.toMatchObject({ code: -32602 });
    const custom = await rawRequest(client, 'bench/custom', { x: 1, _meta: { 'own/key': 'kept' } });
    expect(custom).toMatchObject({ got: { x: 1 }, more: true });
    // The newer era has an HTTP status for it.
    const missing = era === 'modern' ? { status: 404 } : { code: -32601 };
    await expect(rawRequest(client, 'bench/unknown')).rejects.toMatchObject(missing);
    const read = await rawRequest(client, 'resources/read', { uri: 'bench://note' });
    expect(read.contents).toEqual([{ uri: 'bench://note', text: 'a note' }]);
    const prompts = (await rawRequest(client, 'prompts/list')).prompts as { name: string }[];
    expect(prompts[0]?.name).toBe('greet');
    const page = await rawRequest(client, 'resources/list');
    expect(page).toMatchObject({ resources: [{ uri: 'bench://note' }], nextCursor: 'more' });
  });

  test('[MCP-20] a large result stays as it is', async () => {
    const { client } = await open({ era });
    const { content } = await callTool(client, 'huge', { chars: 100_000 });
    expect(content[0]?.text).toHaveLength(100_000);
  });

  test('[MCP-20] progress, cancellation, questions, logs and changes pass', async () => {
    const { client, bench } = await open({
      era,
      capabilities: { elicitation: { form: {} } },
      answer: async () => ({ action: 'accept', content: { name: 'Ada' } }),
    });
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      heard.push(
        `${method} ${(params as JsonObject | undefined)?.data ?? (params as JsonObject)?.uri ?? ''}`.trim(),
      );
    };
    const told: unknown[] = [];
    await callTool(client, 'steps', { steps: 2 }, { onprogress: (progress) => void told.push(progress) });
    expect(told).toHaveLength(2);
    expect((await callTool(client, 'ask', { question: 'who?' })).structuredContent).toMatchObject({
      content: { name: 'Ada' },
    });
    const controller = new AbortController();
    const hanging = callTool(client, 'hang', {}, { signal: controller.signal });
    await expect.poll(() => bench.seen.calls).toBe(3);
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(() => bench.seen.cancelled).toBe(1);

    if (era === 'legacy') {
      await rawRequest(client, 'logging/setLevel', { level: 'info' });
      await rawRequest(client, 'resources/subscribe', { uri: 'bench://note' });
    } else {
      await client.listen({ resourceSubscriptions: ['bench://note'], toolsListChanged: true });
    }
    const _meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : {};
    await rawRequest(client, 'tools/call', {
      name: 'log',
      arguments: { level: 'info', message: 'hi' },
      _meta,
    });
    const tell = (method: string, params = {}) => callTool(client, 'tell', { method, params });
    await tell('notifications/resources/updated', { uri: 'bench://note' });
    await tell('notifications/tools/list_changed');
    await expect
      .poll(() => heard)
      .toEqual([
        'notifications/message hi',
        'notifications/resources/updated bench://note',
        'notifications/tools/list_changed',
      ]);
  });

  test('[MCP-21] policy and tracing apply', async () => {
    const permissions = {
      allow: [],
      ask: [],
      deny: ['bench:plain'],
      default: 'allow' as const,
      profile: 'balanced' as const,
      auto: [],
      approvalWaitMs: 50,
      clientsDecide: true,
    };
    const { client, gateway, store } = await open({ era }, { permissions });
    const denied = await callTool(client, 'plain', { answer: 'x' });
    expect(denied).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not allowed') }],
    });
    const waits = await callTool(client, 'delete_all', {});
    expect(waits).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('pml runs approve ') }],
    });
    const runId = /pml runs approve (\S+);/.exec(waits.content[0]?.text ?? '')?.[1] ?? '';
    expect(await gateway.settleApproval(runId, 'approved', 'a person')).toBe(true);
    expect(await callTool(client, 'delete_all', {})).toMatchObject({ content: [{ text: 'gone' }] });
    await gateway.settled();
    const [trace] = await store.traces.list({ limit: 1 });
    expect(trace).toMatchObject({ executedPath: ['bench:delete_all'], success: true });
  });

  test('[MCP-21] a server that is unknown, disabled or gone is refused', async () => {
    const { fetcher, gateway, client } = await open({ era });
    await expect(connectClient(fetcher, { era, path: '/mcp/servers/nobody' })).rejects.toThrow();
    await gateway.reload({ ...gateway.settings(), servers: [] });
    await expect(callTool(client, 'echo', {})).rejects.toThrow();
  });
});

/** Both eras on both sides: questions and answers change their form on the way, or not. */
describe.each(ERAS)('a client of the %s era', (era) => {
  test.each(ERAS)('[MCP-22] gets the questions of a server of the %s era', async (upstreamEra) => {
    const gateway = await gatewayOver([stdioServer('bench', upstreamEra)]);
    const fetcher = fetchInto(openEndpoints(gateway));
    const connect = (path: string): Promise<Client> =>
      connectClient(fetcher, {
        era,
        path,
        capabilities: { elicitation: { form: {} } },
        answer: async (_method, params) => ({
          action: 'accept',
          content: { name: `Ada, ${params.message}` },
        }),
      });
    const direct = await connect('/mcp/servers/bench');
    const asked = await callTool(direct, 'ask', { question: 'who?' });
    expect(asked.content[0]?.text).toBe('{"action":"accept","name":"Ada, who?"}');
    const through = await connect('/mcp');
    const executed = await callTool(through, 'pml_execute', {
      tool: 'bench:ask',
      arguments: { question: 'who?' },
    });
    expect(executed.structuredContent.result).toEqual({ action: 'accept', name: 'Ada, who?' });
    const capabilities = await callTool(direct, 'client_capabilities', {});
    expect(capabilities.structuredContent).toHaveProperty('elicitation');

    const heard: unknown[] = [];
    direct.fallbackNotificationHandler = async ({ params }) => void heard.push((params as JsonObject).data);
    if (era === 'legacy') await rawRequest(direct, 'logging/setLevel', { level: 'info' });
    const _meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : {};
    await rawRequest(direct, 'tools/call', { name: 'log', arguments: { message: 'hello' }, _meta });
    await expect.poll(() => heard).toEqual(['hello']);
  });
});

const as = (user: string): Principal => ({ name: user, user, role: 'agent', keyId: user });

test('[MCP-30] messages of a server in the run of one user reach no other user', async () => {
  const gateway = await gatewayOver([stdioServer('bench', 'legacy')]);
  const endpoints = openEndpoints(gateway);
  const listening = async (user: string, path: string) => {
    const client = await connectClient(fetchInto(endpoints, as(user)), { era: 'legacy', path });
    const heard: unknown[] = [];
    client.fallbackNotificationHandler = async ({ params }) => void heard.push((params as JsonObject).data);
    await rawRequest(client, 'logging/setLevel', { level: 'debug' });
    return { client, heard };
  };
  const ada = await listening('ada', '/mcp');
  const [bob, bobDirect] = [await listening('bob', '/mcp'), await listening('bob', '/mcp/servers/bench')];
  const say = (message: string, caller: Caller) =>
    gateway.executeTool({ tool: 'bench:log', arguments: { message } }, caller);
  // Over HTTP and in code there is no client, and beside it another user's call is under way.
  await say('alone', { sessionId: null, who: as('ada') });
  const path = join(await temporaryDir(), 'go-on');
  const other = gateway.executeTool(
    { tool: 'bench:await_file', arguments: { path } },
    { sessionId: null, who: as('bob') },
  );
  await say('beside', { sessionId: null, who: as('ada') });
  await writeFile(path, '');
  await other;
  const code = 'return await mcp.bench.log({ message: "in code" })';
  await gateway.executeCode({ code }, { sessionId: null, who: as('ada') });
  await callTool(bobDirect.client, 'log', { message: 'of bob' });
  await expect.poll(() => bobDirect.heard).toEqual(['of bob']);
  await expect.poll(() => ada.heard).toEqual(['alone', 'in code']);
  expect(bob.heard).toEqual([]);
});

test('[KEY-16] subscriptions and messages of a client are for its user’s own process', async () => {
  const gateway = await gatewayOver([{ ...stdioServer('bench', 'legacy'), credentials: 'per_user' }]);
  const endpoints = openEndpoints(gateway);
  const connect = (user: string, era: Era, path: string) =>
    connectClient(fetchInto(endpoints, as(user)), {
      era,
      path,
      capabilities: { roots: { listChanged: true } },
    });
  const listening = async (user: string, era: Era, path: string) => {
    const uri = path === '/mcp' ? 'pml://bench/bench://note' : 'bench://note';
    const client = await connect(user, era, path);
    const heard: unknown[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    if (era === 'modern') await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    else await rawRequest(client, 'resources/subscribe', { uri });
    return heard;
  };
  const [gate, direct] = ['/mcp', '/mcp/servers/bench'];
  const heardBy = async (user: string) => {
    await gateway.keepCredentials('bench', user, { env: { TOKEN: `of-${user}-123456` } });
    return await Promise.all(
      [gate, direct].flatMap((path) => ERAS.map((era) => listening(user, era, path!))),
    );
  };
  const [ada, bob] = [await heardBy('ada'), await heardBy('bob')];
  // The second has no credentials, so she has no process to notify.
  for (const user of ['bob', 'eve']) await (await connect(user, 'legacy', direct!)).sendRootsListChanged();

  const call = (tool: string, user?: string) =>
    gateway.executeTool(
      { tool: `bench:${tool}`, arguments: { name: 'new' } },
      { sessionId: null, ...(user && { who: as(user) }) },
    );
  await call('add_tool', 'ada');
  await call('touch_resource', 'ada');
  const [added, touched] = ['notifications/tools/list_changed', 'notifications/resources/updated'];
  await expect.poll(() => ada).toEqual([[touched], [touched], [added, touched], [added, touched]]);
  await call('touch_resource', 'bob');
  await expect.poll(() => bob).toEqual([[touched], [touched], [touched], [touched]]);
  const seen = async (user?: string) => (await call('list_seen', user)).toolResult?.structuredContent;
  // Notifications of a client are forwarded beside its calls.
  const told = ['notifications/roots/list_changed'];
  await expect.poll(() => seen('bob')).toMatchObject({ subscribed: 1, told });
  expect(await seen('ada')).toMatchObject({ subscribed: 1, told: [] });
  expect(await seen()).toMatchObject({ subscribed: 0, told: [] });
});

test('[UP-48] a call is ended at its time limit, whatever progress it makes', async () => {
  const gateway = await gatewayOver([stdioServer('bench', 'legacy')]);
  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'modern' });
  let told = 0;
  const slow = { tool: 'bench:progress', arguments: { steps: 1_000, ms: 20 }, timeout_ms: 5_000 };
  const answer = await callTool(client, 'pml_execute', slow, { onprogress: () => void told++ });
  expect(answer.structuredContent).toMatchObject({
    status: 'error',
    error: { code: 'upstream_timeout', message: expect.stringContaining('did not end within 5000 ms') },
  });
  expect(told).toBeGreaterThan(0);
  const seen = async () =>
    (await callTool(client, 'pml_execute', { tool: 'bench:list_seen' })).structuredContent.result;
  await expect.poll(seen).toMatchObject({ cancelled: 1 });
});
