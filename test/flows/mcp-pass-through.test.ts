import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { McpOptions } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { benchServer } from '../support/mcp-bench-server.ts';
import {
  type ConnectOptions,
  callTool,
  connectClient,
  ERAS,
  fetchInto,
  openEndpoints,
  rawRequest,
} from '../support/mcp-endpoints.ts';
import { testGateway } from '../support/test-gateway.ts';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

async function open(
  options: ConnectOptions,
  servers: readonly MemoryServer[] = [benchServer()],
  over: Partial<McpOptions> = {},
) {
  const { gateway } = await testGateway({ servers });
  const endpoints = openEndpoints(gateway, over);
  const client = await connectClient(fetchInto(endpoints), options);
  return { client, gateway, endpoints };
}

/** What the client hears, as it comes. */
function listenTo(client: Client): { method: string; params: JsonObject }[] {
  const heard: { method: string; params: JsonObject }[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    const { _meta, ...rest } = (params ?? {}) as JsonObject;
    heard.push({ method, params: rest });
  };
  return heard;
}

const execute = (client: Client, tool: string, args: object, options = {}) =>
  callTool(client, 'pml_execute', { tool, arguments: args }, options);

describe.each(ERAS)('pass-through on /mcp, %s', (era) => {
  test('[MCP-12] resources of all servers are listed in pages, under names that lead back', async () => {
    const bare: MemoryServer = { name: 'bare', tools: [] };
    const { client } = await open({ era }, [benchServer('one'), bare, benchServer('two')]);
    const first = await rawRequest(client, 'resources/list');
    expect(first.resources).toEqual([
      { uri: 'pml://one/bench://note', name: 'note', 'bench/field': 1 },
      { uri: 'pml://two/bench://note', name: 'note', 'bench/field': 1 },
    ]);
    const second = await rawRequest(client, 'resources/list', { cursor: first.nextCursor });
    expect(second.resources).toEqual([
      { uri: 'pml://one/bench://second', name: 'second' },
      { uri: 'pml://two/bench://second', name: 'second' },
    ]);
    expect(second.nextCursor).toBeUndefined();
    const { resourceTemplates } = await rawRequest(client, 'resources/templates/list');
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: 'skill://{+path}' },
      { uriTemplate: 'pml://one/bench://{name}' },
      { uriTemplate: 'pml://two/bench://{name}' },
    ]);
    const read = await rawRequest(client, 'resources/read', { uri: 'pml://two/bench://note' });
    expect(read.contents).toEqual([{ uri: 'pml://two/bench://note', text: 'a note' }]);
    const bad = rawRequest(client, 'resources/list', { cursor: 'nonsense' });
    await expect(bad).rejects.toMatchObject({ code: -32602 });
  });

  test("[MCP-12] a missing resource is its server's error; a URI without a server is ours", async () => {
    const { client } = await open({ era });
    const read = (uri: string) => rawRequest(client, 'resources/read', { uri });
    await expect(read('pml://bench/bench://gone')).rejects.toMatchObject({
      code: -32602,
      data: { uri: 'bench://gone' },
    });
    await expect(read('bench://note')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/pml:\/\/SERVER\/URI/),
    });
    await expect(read('pml://nobody/x:y')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/nobody/),
    });
  });

  test('[MCP-45] a list does not wait for a slow server; when the server is up, clients are notified', async () => {
    const bench = benchServer('slow');
    const slow = {
      ...bench,
      requests: { ...bench.requests, 'resources/list': () => new Promise<never>(() => {}) },
    };
    const late: MemoryServer & { startFailure?: unknown } = {
      ...benchServer('late'),
      startFailure: { code: 'upstream_unavailable', errorType: 'NETWORK', message: 'not yet' },
    };
    const { client, gateway } = await open({ era }, [slow, late, benchServer('quick')], { listWaitMs: 100 });
    const heard = listenTo(client);
    if (era === 'modern') await client.listen({ resourcesListChanged: true });
    const { resources } = await rawRequest(client, 'resources/list');
    expect(resources).toMatchObject([{ uri: 'pml://quick/bench://note' }]);
    delete late.startFailure;
    await gateway.restart('late');
    await expect
      .poll(() => heard.map(({ method }) => method))
      .toContain('notifications/resources/list_changed');
    const again = await rawRequest(client, 'resources/list');
    expect(again.resources).toMatchObject([
      { uri: 'pml://late/bench://note' },
      { uri: 'pml://quick/bench://note' },
    ]);
  });

  test('[MCP-13] prompts and completion work under names of at most 64 characters', async () => {
    const { client, endpoints } = await open({ era });
    const { prompts } = (await rawRequest(client, 'prompts/list')) as { prompts: { name: string }[] };
    expect(prompts.map(({ name }) => name)).toEqual([
      'bench:greet',
      expect.stringMatching(/^bench:long_x+~\w{8}$/),
    ]);
    expect(prompts[1]?.name).toHaveLength(64);
    const got = await rawRequest(client, 'prompts/get', { name: 'bench:greet', arguments: { name: 'Ada' } });
    expect(got).toMatchObject({
      messages: [
        { content: { text: 'Hello Ada' } },
        { content: { type: 'resource', resource: { uri: 'pml://bench/bench://note' } } },
      ],
    });
    // Another client, and a gateway that was never asked for the list.
    const other = await connectClient(fetchInto(endpoints), { era });
    expect(await rawRequest(other, 'prompts/get', { name: prompts[1]?.name })).toMatchObject({
      description: 'the prompt long_',
    });
    await expect(rawRequest(client, 'prompts/get', { name: 'bench' })).rejects.toMatchObject({
      code: -32602,
    });

    const argument = { name: 'name', value: 'a' };
    const complete = async (ref: object) => {
      const { completion } = await rawRequest(client, 'completion/complete', { ref, argument });
      return (completion as { values: string[] }).values[0];
    };
    expect(await complete({ type: 'ref/prompt', name: 'bench:greet' })).toBe(
      '{"type":"ref/prompt","name":"greet"} a',
    );
    expect(await complete({ type: 'ref/resource', uri: 'pml://bench/bench://{name}' })).toBe(
      '{"type":"ref/resource","uri":"bench://{name}"} a',
    );
  });

  test('[MCP-14] progress goes to the client that asked for it, and cancelling cancels upstream', async () => {
    const bench = benchServer();
    const { client } = await open({ era }, [bench]);
    const told: unknown[] = [];
    const onprogress = (progress: unknown) => void told.push(progress);
    const ran = await execute(client, 'bench:steps', { steps: 3 }, { onprogress });
    expect(ran.structuredContent).toMatchObject({ status: 'success', result: 'done' });
    expect(told).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));

    const controller = new AbortController();
    const hanging = execute(client, 'bench:hang', {}, { signal: controller.signal });
    await expect.poll(() => bench.seen.calls).toBe(2);
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(() => bench.seen.cancelled).toBe(1);
    expect((await execute(client, 'bench:count', {})).structuredContent.result).toEqual({ count: 3 });
  });

  test('[MCP-15] a question of a server reaches the client of the call', async () => {
    const bench = benchServer();
    const { client, endpoints } = await open(
      {
        era,
        capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
        answer: async (method, params) => {
          if (method === 'roots/list') return { roots: [{ uri: 'file:///home' }] };
          if (method === 'sampling/createMessage') {
            return { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'test' };
          }
          return { action: 'accept', content: { name: `Ada, ${params.message}` } };
        },
      },
      [bench],
    );
    const other = await connectClient(fetchInto(endpoints), {
      era,
      capabilities: { elicitation: { form: {} } },
      answer: async () => ({ action: 'decline' }),
    });
    const [mine, theirs] = await Promise.all([
      execute(client, 'bench:ask', { question: 'who?' }),
      execute(other, 'bench:ask', { question: 'who?' }),
    ]);
    expect(mine.structuredContent.result).toMatchObject({ action: 'accept', content: { name: 'Ada, who?' } });
    expect(theirs.structuredContent.result).toMatchObject({ action: 'decline' });
    expect((await execute(client, 'bench:sample', {})).structuredContent.result).toMatchObject({
      model: 'test',
    });
    expect((await execute(client, 'bench:roots', {})).structuredContent.result).toMatchObject({
      roots: [{ uri: 'file:///home' }],
    });
    const call = { id: 'a', tool: 'bench:ask', arguments: { question: 'in a workflow?' } };
    const flow = await callTool(client, 'pml_execute_workflow', { workflow: { tasks: [call] } });
    expect(flow.structuredContent).toMatchObject({ results: { a: { result: { action: 'accept' } } } });
  });

  test('[MCP-15] a client that cannot answer is not asked', async () => {
    const { client } = await open({ era });
    const refused = await execute(client, 'bench:ask', { question: 'who?' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { status: 'error' } });
    const formless = await open({
      era,
      capabilities: { elicitation: { url: {} } },
      answer: async () => ({ action: 'accept', content: {} }),
    });
    expect(
      (await execute(formless.client, 'bench:ask', { question: 'who?' })).structuredContent,
    ).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('elicitation by form') },
    });
  });

  test('[MCP-16] log messages have the requested severity', async () => {
    const { client } = await open({ era });
    const heard = listenTo(client);
    const log = async (level: string, wanted?: string) => {
      const _meta = wanted === undefined || era === 'legacy' ? {} : { [LOG_LEVEL]: wanted };
      if (era === 'legacy' && wanted !== undefined)
        await rawRequest(client, 'logging/setLevel', { level: wanted });
      const call = { tool: 'bench:log', arguments: { level, message: `${level} for ${wanted}` } };
      await rawRequest(client, 'tools/call', { name: 'pml_execute', arguments: call, _meta });
    };
    await log('error');
    await log('info', 'debug');
    await log('info', 'warning');
    await log('alert', 'warning');
    await expect
      .poll(() => heard.map(({ params }) => params.data))
      .toEqual(['info for debug', 'alert for warning']);
    expect(heard[0]).toEqual({
      method: 'notifications/message',
      params: { level: 'info', data: 'info for debug', logger: 'bench/own' },
    });
    if (era === 'modern') return;
    await expect(rawRequest(client, 'logging/setLevel', { level: 'loud' })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test('[MCP-17] changes are sent to clients that listen for them', async () => {
    const { client, endpoints } = await open({ era });
    const deaf = await connectClient(fetchInto(endpoints), { era });
    const [heard, unheard] = [listenTo(client), listenTo(deaf)];
    const uri = 'pml://bench/bench://note';
    if (era === 'legacy') await rawRequest(client, 'resources/subscribe', { uri });
    else await client.listen({ resourceSubscriptions: [uri], promptsListChanged: true });
    const tell = (method: string, params: object = {}) => execute(client, 'bench:tell', { method, params });
    await tell('notifications/resources/updated', { uri: 'bench://note' });
    await tell('notifications/resources/updated', { uri: 'bench://other' });
    await tell('notifications/prompts/list_changed');
    await expect
      .poll(() => heard)
      .toEqual([
        { method: 'notifications/resources/updated', params: { uri } },
        { method: 'notifications/prompts/list_changed', params: {} },
      ]);
    expect(unheard.filter(({ method }) => method === 'notifications/resources/updated')).toEqual([]);
    if (era === 'modern') return;
    await rawRequest(client, 'resources/unsubscribe', { uri });
    await tell('notifications/resources/updated', { uri: 'bench://note' });
    await tell('notifications/prompts/list_changed');
    await expect.poll(() => heard).toHaveLength(3);
  });

  test('[MCP-17] the tools of the gateway stay the same when servers appear and disappear, and no client is notified', async () => {
    const { client, gateway } = await open({ era });
    const heard = listenTo(client);
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    const before = JSON.stringify(await rawRequest(client, 'tools/list'));
    await gateway.reload({ ...gateway.settings(), servers: [] });
    await expect.poll(() => gateway.inventory()).toBe('No servers are attached.');
    expect(JSON.stringify(await rawRequest(client, 'tools/list'))).toBe(before);
    expect(heard).toEqual([]);
  });
});
