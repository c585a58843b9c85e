import type { Client } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { McpOptions } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import { type MemoryContext, MemoryRpcError, type MemoryServer } from '../memory/upstream-server.ts';
import { connectClient, fetchInto, openEndpoints, rawRequest, SOMEBODY } from '../support/mcp-endpoints.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const ANN: Principal = { ...SOMEBODY, keyId: 'ann' };
const BOB: Principal = { ...SOMEBODY, keyId: 'bob' };

/** A server whose one slow tool ends when the test lets it. */
function lab() {
  const release = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const content = (text: string) => ({ content: [{ type: 'text', text }] });
  const slow = async (_args: JsonObject, { signal, progress }: MemoryContext) => {
    signal.addEventListener('abort', () => cancelled.resolve(), { once: true });
    progress({ progress: 1, message: 'half way' });
    await release.promise;
    return content('found');
  };
  const asking = async (_args: JsonObject, { ask }: MemoryContext) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const answer = await ask('elicitation/create', { message: 'A name?', requestedSchema });
    return content(`hello ${(answer.content as JsonObject).name}`);
  };
  const called = (name: string, call: (args: JsonObject, context: MemoryContext) => Promise<JsonObject>) => ({
    definition: { name, description: name, inputSchema: { type: 'object' } },
    call,
  });
  const server: MemoryServer = {
    name: 'lab',
    tools: [called('slow', slow), called('asking', asking), tool('quick', () => 'at once')],
  };
  return { server, release: release.resolve, cancelled: cancelled.promise };
}

async function open(options: Partial<McpOptions> = {}, servers: readonly MemoryServer[] = []) {
  const made = lab();
  const { gateway, store } = await testGateway({ servers: [made.server, ...servers], attended: false });
  return { ...made, gateway, store, endpoints: openEndpoints(gateway, options) };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** The official client of 2025-11-25 that knows tasks. */
async function oldClient({ endpoints }: Opened, who: Principal, path = '/mcp') {
  const capabilities = { elicitation: {}, tasks: { list: {}, cancel: {} } };
  const client = new OldClient({ name: 'test', version: '1' }, { capabilities });
  const url = new URL(`http://gateway.test${path}`);
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetchInto(endpoints, who) }) as never);
  onTestFinished(() => client.close());
  return { client, tasks: client.experimental.tasks };
}

const execute = (name: string) => ({ name: 'pml_execute', arguments: { tool: `lab:${name}` } });

/** Starts a task; the stream reports what becomes of it. */
async function start(client: OldClient, call: { name: string; arguments: JsonObject }) {
  const stream = client.experimental.tasks.callToolStream(call as never, CallToolResultSchema, {
    task: { ttl: 120_000 },
  });
  const { value: first } = await stream.next();
  if (first?.type !== 'taskCreated') throw new Error(`no task: ${JSON.stringify(first)}`);
  return { task: first.task, stream };
}

describe('2025-11-25', () => {
  test('[TASK-4] a run is started as a task, polled, listed and fetched by the official client', async () => {
    const opened = await open();
    const { client, tasks } = await oldClient(opened, ANN);
    expect(client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools } = await client.listTools();
    const support = tools.map(({ name, execution }) => [name, execution?.taskSupport]);
    expect(Object.fromEntries(support)).toMatchObject({
      pml_execute: 'optional',
      pml_execute_workflow: 'optional',
      pml_search_tools: undefined,
    });
    const { task, stream } = await start(client, execute('slow'));
    expect(task).toMatchObject({ status: 'working', ttl: 120_000, pollInterval: expect.any(Number) });
    await expect
      .poll(() => tasks.getTask(task.taskId))
      .toMatchObject({ status: 'working', statusMessage: 'half way' });
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual([task.taskId]);
    opened.release();
    const told: string[] = [];
    for await (const message of stream) {
      told.push(message.type);
      if (message.type !== 'result') continue;
      expect(message.result.content).toEqual([{ type: 'text', text: 'found' }]);
      expect(message.result._meta).toMatchObject({
        'io.modelcontextprotocol/related-task': { taskId: task.taskId },
      });
    }
    expect(told.at(-1)).toBe('result');
    expect(await tasks.getTask(task.taskId)).toMatchObject({ status: 'completed' });
    await opened.gateway.settled();
    const [trace] = await opened.store.traces.list({ limit: 1 });
    expect(trace?.executedPath).toEqual(['lab:slow']);
  });

  test('[TASK-5] cancelling a task cancels its calls', async () => {
    const opened = await open();
    const { client, tasks } = await oldClient(opened, ANN);
    const { task } = await start(client, execute('slow'));
    expect(await tasks.cancelTask(task.taskId)).toMatchObject({ status: 'cancelled' });
    await opened.cancelled;
    await expect(tasks.cancelTask(task.taskId)).rejects.toThrow('ended already');
    await expect(tasks.getTaskResult(task.taskId, CallToolResultSchema)).rejects.toThrow('cancelled');
  });

  test('[TASK-4] a question of a task goes to the client that waits for its result', async () => {
    const opened = await open();
    const { client, tasks } = await oldClient(opened, ANN);
    const related: unknown[] = [];
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      related.push(params._meta?.['io.modelcontextprotocol/related-task']);
      return { action: 'accept', content: { name: 'Ann' } };
    });
    const { task } = await start(client, execute('asking'));
    await expect.poll(() => tasks.getTask(task.taskId)).toMatchObject({ status: 'input_required' });
    const result = await tasks.getTaskResult(task.taskId, CallToolResultSchema);
    expect(result.content).toEqual([{ type: 'text', text: 'hello Ann' }]);
    expect(related).toEqual([{ taskId: task.taskId }]);
  });

  test('[TASK-6] for another key a task does not exist, in either era', async () => {
    const opened = await open();
    const { client } = await oldClient(opened, ANN);
    const { task } = await start(client, execute('slow'));
    const bob = await oldClient(opened, BOB);
    const bobToo = await oldClient(opened, { ...ANN, clientId: 'an app' });
    for (const { tasks } of [bob, bobToo]) {
      expect((await tasks.listTasks()).tasks).toEqual([]);
      await expect(tasks.getTask(task.taskId)).rejects.toThrow('not found');
      await expect(tasks.getTaskResult(task.taskId, CallToolResultSchema)).rejects.toThrow('not found');
      await expect(tasks.cancelTask(task.taskId)).rejects.toThrow('not found');
    }
    const modern = await modernClient(opened, BOB);
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      await expect(rawRequest(modern, method, { taskId: task.taskId })).rejects.toThrow('not found');
    const { tasks: again } = await oldClient(opened, ANN);
    expect(await again.getTask(task.taskId)).toMatchObject({ status: 'working' });
  });

  test('[TASK-4] a tool without task support cannot be called as a task', async () => {
    const opened = await open();
    const { client } = await oldClient(opened, ANN);
    const asTask = (name: string) =>
      client.request(
        { method: 'tools/call', params: { name, arguments: { query: 'x' }, task: {} } },
        CallToolResultSchema,
      );
    await expect(asTask('pml_search_tools')).rejects.toThrow('Method not found');
  });

  test('[TASK-4] on /mcp/all every tool is called as a task, listed, fetched and cancelled', async () => {
    const opened = await open();
    const { client, tasks } = await oldClient(opened, ANN, '/mcp/all');
    const { tools } = await client.listTools();
    expect(new Set(tools.map(({ execution }) => execution?.taskSupport))).toEqual(new Set(['optional']));
    const { task } = await start(client, { name: 'lab__slow', arguments: {} });
    await expect
      .poll(() => tasks.getTask(task.taskId))
      .toMatchObject({ status: 'working', statusMessage: 'half way' });
    const { task: unwanted } = await start(client, { name: 'lab__slow', arguments: {} });
    expect(await tasks.cancelTask(unwanted.taskId)).toMatchObject({ status: 'cancelled' });
    await opened.cancelled;
    opened.release();
    const result = await tasks.getTaskResult(task.taskId, CallToolResultSchema);
    expect(result.content).toEqual([{ type: 'text', text: 'found' }]);
    // The tasks of both addresses are those of the key.
    const atMcp = await oldClient(opened, ANN);
    expect(new Set((await atMcp.tasks.listTasks()).tasks.map(({ taskId }) => taskId))).toEqual(
      new Set([task.taskId, unwanted.taskId]),
    );
    const bob = await oldClient(opened, BOB, '/mcp/all');
    await expect(bob.tasks.getTask(task.taskId)).rejects.toThrow('not found');
  });

  test('[TASK-7] tasks have a limit per key, and a finished one is dropped first', async () => {
    const opened = await open();
    const { client, tasks } = await oldClient(opened, ANN);
    const started = await Promise.all(Array.from({ length: 64 }, () => start(client, execute('slow'))));
    const refused = client.request(
      { method: 'tools/call', params: { ...execute('slow'), task: {} } },
      CallToolResultSchema,
    );
    await expect(refused).rejects.toThrow('Too many tasks');
    // Those of others are not counted.
    await start((await oldClient(opened, BOB)).client, execute('slow'));
    const [first] = started;
    await tasks.cancelTask(first!.task.taskId);
    await start(client, execute('slow'));
    await expect(tasks.getTask(first!.task.taskId)).rejects.toThrow('not found');
    const page = await tasks.listTasks();
    expect(page.tasks).toHaveLength(50);
    expect((await tasks.listTasks(page.nextCursor)).tasks).toHaveLength(14);
  });
});

async function modernClient({ endpoints }: Opened, who: Principal, path = '/mcp'): Promise<Client> {
  const capabilities = { elicitation: {}, extensions: { [EXTENSION]: {} } };
  return await connectClient(fetchInto(endpoints, who), { era: 'modern', path, capabilities });
}

/** As the SDK's client refuses results of this type, they are read from the wire. */
async function post({ endpoints }: Opened, who: Principal, path: string, name: string, args: JsonObject) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [EXTENSION]: {} } },
  };
  const params = { name, arguments: args, _meta };
  const response = await fetchInto(endpoints, who)(`http://gateway.test${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  const text = await response.text();
  const [json] = /\{"(?:jsonrpc|result|id).*\}/.exec(text) ?? [];
  return JSON.parse(json!).result as JsonObject & { taskId: string };
}

describe('2026-07-28', () => {
  const cases: readonly { path: string; of(name: string): [string, JsonObject] }[] = [
    { path: '/mcp', of: (name) => ['pml_execute', { tool: `lab:${name}` }] },
    { path: '/mcp/all', of: (name) => [`lab__${name}`, {}] },
  ];

  test.each(cases)(
    '[TASK-8] on $path a long call becomes a task, a short one does not',
    async ({ path, of }) => {
      const opened = await open({ patienceMs: 50 });
      const client = await modernClient(opened, ANN, path);
      expect(client.getServerCapabilities()?.extensions).toHaveProperty([EXTENSION]);
      expect(client.getServerCapabilities()?.tasks).toBeUndefined();
      const quick = await open({ patienceMs: 60_000 });
      expect(await post(quick, ANN, path, ...of('quick'))).toMatchObject({ resultType: 'complete' });
      const task = await post(opened, ANN, path, ...of('slow'));
      expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: expect.any(Number) });
      const look = () => rawRequest(client, 'tasks/get', { taskId: task.taskId });
      await expect.poll(look).toMatchObject({ status: 'working', statusMessage: 'half way' });
      opened.release();
      await expect
        .poll(look)
        .toMatchObject({ status: 'completed', result: { content: [{ type: 'text', text: 'found' }] } });
      const undeclared = await connectClient(fetchInto(opened.endpoints, ANN), { era: 'modern', path });
      const refused = rawRequest(undeclared, 'tasks/get', { taskId: task.taskId });
      await expect(refused).rejects.toMatchObject({ code: -32021 });
    },
  );

  test('[TASK-8] its question is in the task, and an update answers it', async () => {
    const opened = await open({ patienceMs: 60_000 });
    const client = await modernClient(opened, ANN);
    const { taskId, status } = await post(opened, ANN, '/mcp', 'pml_execute', { tool: 'lab:asking' });
    expect(status).toBe('input_required');
    const { inputRequests } = await rawRequest(client, 'tasks/get', { taskId });
    const [key] = Object.keys(inputRequests as JsonObject);
    const inputResponses = { [key!]: { action: 'accept', content: { name: 'Ann' } } };
    await rawRequest(client, 'tasks/update', { taskId, inputResponses });
    await expect
      .poll(() => rawRequest(client, 'tasks/get', { taskId }))
      .toMatchObject({ status: 'completed', result: { content: [{ text: 'hello Ann' }] } });
  });

  test('[TASK-5] a cancelled task ends', async () => {
    const opened = await open({ patienceMs: 0 });
    const client = await modernClient(opened, ANN);
    const { taskId } = await post(opened, ANN, '/mcp', 'pml_execute', { tool: 'lab:slow' });
    await rawRequest(client, 'tasks/cancel', { taskId });
    await opened.cancelled;
    expect(await rawRequest(client, 'tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
  });
});

test('[TASK-6] a task of a server belongs to the key that started it, too', async () => {
  const states = new Map<string, string>();
  const told: ((method: string, params: JsonObject) => void)[] = [];
  const find = ({ taskId }: JsonObject) => {
    if (!states.has(String(taskId))) throw new MemoryRpcError(-32602, 'No such task');
    return { taskId, status: states.get(String(taskId)) };
  };
  const server: MemoryServer = {
    name: 'far',
    identity: { capabilities: { tools: {}, tasks: { list: {}, cancel: {} } } },
    tools: [
      {
        definition: { name: 'dig', inputSchema: { type: 'object' } },
        call: (_args, { notify }) => {
          const taskId = `task-${states.size + 1}`;
          states.set(taskId, 'working');
          told.push(notify);
          return { task: { taskId, status: 'working' } };
        },
      },
    ],
    requests: {
      'tasks/get': find,
      'tasks/cancel': find,
      'tasks/result': () => ({ content: [{ type: 'text', text: 'a secret' }] }),
      'tasks/list': () => ({ tasks: [...states.keys()].map((taskId) => ({ taskId, status: 'working' })) }),
    },
  };
  const opened = await open({}, [server]);
  const connect = async (who: Principal) => {
    const options = { era: 'legacy', path: '/mcp/servers/far' } as const;
    const client = await connectClient(fetchInto(opened.endpoints, who), options);
    const heard: unknown[] = [];
    client.fallbackNotificationHandler = async ({ params }) => void heard.push(params?.taskId);
    return { client, heard };
  };
  const ann = await connect(ANN);
  const bob = await connect(BOB);
  expect(ann.client.getServerCapabilities()?.tasks).toBeDefined();
  for (const { client } of [ann, bob])
    await rawRequest(client, 'tools/call', { name: 'dig', arguments: {}, task: {} });
  const ids = async ({ client }: typeof ann) =>
    ((await rawRequest(client, 'tasks/list')).tasks as { taskId: string }[]).map(({ taskId }) => taskId);
  expect([await ids(ann), await ids(bob)]).toEqual([['task-1'], ['task-2']]);
  const result = await rawRequest(ann.client, 'tasks/result', { taskId: 'task-1' });
  expect(result.content).toEqual([{ type: 'text', text: 'a secret' }]);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'])
    await expect(rawRequest(bob.client, method, { taskId: 'task-1' })).rejects.toThrow('not found');
  for (const taskId of ['task-1', 'task-2'])
    told[0]!('notifications/tasks/status', { taskId, status: 'completed' });
  await expect.poll(() => [ann.heard, bob.heard]).toEqual([['task-1'], ['task-2']]);
});
