import { Client } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GatewayTarget } from '../../src/adapters/client/gateway-link.ts';
import { runStdioPump } from '../../src/adapters/client/stdio-pump.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import { type BenchServer, benchServer } from '../support/mcp-bench-server.ts';
import {
  type ConnectOptions,
  callTool,
  ERAS,
  type Era,
  fetchInto,
  openEndpoints,
  prepareClient,
  rawRequest,
} from '../support/mcp-endpoints.ts';
import { directTarget, type Holder, startHolder } from '../support/mcp-holder.ts';
import { createPipe } from '../support/mcp-pipe.ts';
import { testGateway } from '../support/test-gateway.ts';

async function holder(bench: BenchServer = benchServer()): Promise<Holder> {
  const { gateway } = await testGateway({ servers: [bench] });
  const started = await startHolder(gateway);
  onTestFinished(() => started.kill());
  return started;
}

/** The official client at one end of a pipe, the pump at the other. */
async function pumped(reach: () => Promise<GatewayTarget>, options: ConnectOptions) {
  const { stdin, stdout, transport } = createPipe();
  const written: string[] = [];
  stdout.on('data', (chunk) => written.push(String(chunk)));
  const ended = runStdioPump({ stdin, stdout, reach, onError: () => {} });
  const { era, capabilities = {}, answer } = options;
  const negotiation =
    era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } as const } } : {};
  const client = new Client({ name: 'piped', version: '1' }, { capabilities, ...negotiation });
  prepareClient(client, capabilities, answer);
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    await ended.catch(() => {});
  });
  return { client, ended, stdin, written };
}

const execute = (client: Client, tool: string, args: object = {}, options = {}) =>
  callTool(client, 'pml_execute', { tool, arguments: args }, options);

/** How the pump reaches its gateway. */
type Way = 'target' | 'within';
const WAYS: readonly (readonly [Era, Way])[] = [
  ...ERAS.map((era) => [era, 'target'] as const),
  ['legacy', 'within'],
];

describe.each(WAYS)('the stdio pump, %s, %s', (era, way) => {
  test('[MCP-23] forwards everything unchanged, with the gateway in the same process', async () => {
    const { gateway } = await testGateway({ servers: [benchServer()] });
    const endpoints = openEndpoints(gateway);
    const spoken = { url: 'http://gateway.test/mcp', fetch: fetchInto(endpoints) };
    const target = way === 'within' ? directTarget(endpoints) : spoken;
    const { client, stdin, ended, written } = await pumped(async () => target, {
      era,
      capabilities: { elicitation: { form: {} } },
      answer: async () => ({ action: 'accept', content: { name: 'Ada' } }),
    });
    expect(client.getProtocolEra()).toBe(era);
    expect((await rawRequest(client, 'tools/list')).tools).toContainEqual(
      expect.objectContaining({ name: 'pml_execute' }),
    );
    const told: unknown[] = [];
    const onprogress = (progress: unknown) => void told.push(progress);
    await execute(client, 'bench:steps', { steps: 3 }, { onprogress });
    expect(told).toHaveLength(3);
    expect((await execute(client, 'bench:ask', { question: '?' })).structuredContent.result).toMatchObject({
      content: { name: 'Ada' },
    });
    await expect(rawRequest(client, 'resources/read', { uri: 'nothing' })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(rawRequest(client, 'pml/nonsense', {})).rejects.toMatchObject({ code: -32601 });
    const both = await Promise.all([
      execute(client, 'bench:count'),
      execute(client, 'bench:plain', { answer: 'x' }),
    ]);
    expect(both.map(({ structuredContent }) => structuredContent.result)).toEqual([{ count: 3 }, 'x']);
    stdin.end();
    await ended;
    for (const line of written.join('').trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  test('[MCP-23] forwards cancellations and change notifications', async () => {
    const bench = benchServer();
    const first = await holder(bench);
    const { client } = await pumped(async () => first[way], { era });
    const controller = new AbortController();
    const hanging = execute(client, 'bench:hang', {}, { signal: controller.signal });
    await expect.poll(() => bench.seen.calls).toBe(1);
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await expect.poll(() => bench.seen.cancelled).toBe(1);

    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    if (era === 'modern') await client.listen({ promptsListChanged: true });
    await execute(client, 'bench:tell', { method: 'notifications/prompts/list_changed' });
    await expect.poll(() => heard).toEqual(['notifications/prompts/list_changed']);
  });

  test('[MCP-24] continues with another gateway when one ends; active calls are answered', async () => {
    const bench = benchServer();
    const holders = [await holder(bench), await holder()];
    let reached = 0;
    const reach = async () => (holders[Math.min(reached++, 1)] as Holder)[way];
    const { client } = await pumped(reach, { era });
    const heard: JsonObject[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      heard.push({
        method,
        ...((params as JsonObject)?.uri !== undefined && { uri: (params as JsonObject).uri }),
      });
    };
    const uri = 'pml://bench/bench://note';
    if (era === 'legacy') await rawRequest(client, 'resources/subscribe', { uri });
    else await client.listen({ resourceSubscriptions: [uri] });

    const interrupted = expect(execute(client, 'bench:hang')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/may or may not have run/),
    });
    await expect.poll(() => bench.seen.calls).toBe(1);
    await holders[0]?.kill();
    await interrupted;
    expect((await execute(client, 'bench:count')).structuredContent.result).toEqual({ count: 3 });
    expect((await rawRequest(client, 'tools/list')).tools).toContainEqual(
      expect.objectContaining({ name: 'pml_execute' }),
    );
    const update = { method: 'notifications/resources/updated', params: { uri: 'bench://note' } };
    await expect
      .poll(async () => {
        await execute(client, 'bench:tell', update);
        return heard;
      })
      .toContainEqual({ method: 'notifications/resources/updated', uri });
    expect(reached).toBe(2);
  });

  test('[MCP-24] requests without a gateway wait for the next one', async () => {
    const first = await holder();
    let next: (target: GatewayTarget) => void = () => {};
    const targets = [
      Promise.resolve(first.target),
      new Promise<GatewayTarget>((resolve) => {
        next = resolve;
      }),
    ];
    const { client } = await pumped(async () => (await targets.shift()) as GatewayTarget, { era });
    await execute(client, 'bench:count');
    await first.kill();
    const waiting = Promise.all([execute(client, 'bench:count'), execute(client, 'bench:count')]);
    next((await holder()).target);
    expect((await waiting).map(({ structuredContent }) => structuredContent.status)).toEqual([
      'success',
      'success',
    ]);
  });

  test('[MCP-24] when no gateway can be reached, the client gets an error and the pump ends', async () => {
    const first = await holder();
    const targets = [first.target];
    const reach = async () => {
      const target = targets.shift();
      if (!target) throw new Error('nobody holds the data dir');
      return target;
    };
    const { client, ended } = await pumped(reach, { era });
    const outcome = ended.catch((error: Error) => error.message);
    await execute(client, 'bench:count');
    await first.kill();
    await expect(execute(client, 'bench:count')).rejects.toThrow();
    expect(await outcome).toBe('nobody holds the data dir');
  });
});

test('[MCP-52] a call within the process goes without a request', async () => {
  const bench = benchServer();
  const { within } = await holder(bench);
  let requests = 0;
  let calls = 0;
  const target: GatewayTarget = {
    ...within,
    fetch: (...all) => {
      requests += 1;
      return within.fetch!(...all);
    },
    call: (...all) => {
      const answer = within.call!(...all);
      if (answer) calls += 1;
      return answer;
    },
  };
  const { client, written } = await pumped(async () => target, { era: 'legacy' });
  await execute(client, 'bench:count');
  const before = requests;
  await Promise.all(Array.from({ length: 8 }, () => execute(client, 'bench:count')));
  expect([requests - before, calls]).toEqual([0, 9]);

  // Without a session, and all else that is not a call.
  const session = { session: '', client: 'x', say: () => {} };
  expect(
    await within.call!({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }, session),
  ).toBeNull();
  expect(within.call!({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, session)).toBeNull();
  expect(written.join('').trim().split('\n')).toHaveLength(1 + 9);
});

test.each<Way>(['target', 'within'])(
  '[MCP-24] a question of a gateway that ended is withdrawn, %s',
  async (way) => {
    const holders = [await holder(), await holder()];
    let reached = 0;
    const reach = async () => (holders[Math.min(reached++, 1)] as Holder)[way];
    let asked = false;
    let takenBack = false;
    const { client } = await pumped(reach, { era: 'legacy', capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler('elicitation/create', async (_request, { mcpReq: { signal } }) => {
      asked = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      takenBack = true;
      return { action: 'cancel' };
    });
    const asking = execute(client, 'bench:ask', { question: '?' }).catch((error: Error) => error.message);
    await expect.poll(() => asked).toBe(true);
    await holders[0]?.kill();
    expect(await asking).toMatch(/may or may not have run/);
    await expect.poll(() => takenBack).toBe(true);
  },
);
