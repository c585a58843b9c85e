import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { McpOptions } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import type { MemoryTool } from '../memory/upstream-server.ts';
import { benchServer } from '../support/mcp-bench-server.ts';
import { fetchInto, openEndpoints, SOMEBODY } from '../support/mcp-endpoints.ts';
import { testGateway } from '../support/test-gateway.ts';

const HELLO = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

/** Speaks HTTP by hand, to see what the official client hides. */
async function openRaw(
  options: Partial<McpOptions> = {},
  who: () => Principal = () => SOMEBODY,
  server = benchServer(),
) {
  const { gateway } = await testGateway({ servers: [server] });
  const forgotten: string[] = [];
  const watched: Gateway = {
    ...gateway,
    forgetClient: async (clientId) => {
      forgotten.push(clientId);
      await gateway.forgetClient(clientId);
    },
  };
  const endpoints = openEndpoints(watched, options);
  const fetcher: typeof fetch = (input, init) => fetchInto(endpoints, who())(input, init);
  const send = (method: string, body: unknown, headers: Record<string, string> = {}) =>
    fetcher('http://gateway.test/mcp', {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const post = (message: object, session?: string) =>
    send('POST', { jsonrpc: '2.0', ...message }, session === undefined ? {} : { 'mcp-session-id': session });
  const hello = async () => {
    const response = await post({ id: 1, ...HELLO });
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  return { send, post, hello, forgotten, server };
}

const LIST = { id: 2, method: 'tools/list', params: {} };

test('[MCP-18] the handshake creates a session, and unknown sessions are refused', async () => {
  const { post, hello } = await openRaw();
  const session = await hello();
  expect(session).not.toBe('');
  const listed = await post(LIST, session);
  expect(listed.status).toBe(200);
  expect(await listed.text()).toContain('pml_search_tools');
  expect((await post(LIST)).status).toBe(400);
  const strange = await post(LIST, 'somebody-else');
  expect(strange.status).toBe(404);
  expect(await strange.json()).toMatchObject({ error: { code: -32001 } });
});

test('[MCP-18] a session that its client ends is forgotten', async () => {
  const { send, post, hello, forgotten } = await openRaw();
  const session = await hello();
  expect((await send('DELETE', undefined, { 'mcp-session-id': session })).status).toBe(200);
  expect(forgotten).toEqual([session]);
  expect((await post(LIST, session)).status).toBe(404);
});

test('[MCP-18] an unused session is ended; one with a listener is not', async () => {
  let time = 0;
  const { send, post, hello, forgotten } = await openRaw({ idleMs: 30, sweepMs: 10, now: () => time });
  const [idle, listening, calling] = [await hello(), await hello(), await hello()];
  const stream = await send('GET', undefined, { 'mcp-session-id': listening });
  const hang = { name: 'pml_execute', arguments: { tool: 'bench:hang' } };
  await post({ id: 3, method: 'tools/call', params: hang }, calling);
  time += 31;
  await expect.poll(() => forgotten).toEqual([idle]);
  time += 1_000;
  await sleep(100);
  expect(forgotten).toEqual([idle]);
  await stream.body?.cancel();
  // Its time begins when the end of the stream is noticed.
  await expect
    .poll(() => {
      time += 31;
      return forgotten;
    })
    .toEqual([idle, listening]);
});

test('[MCP-18] with too many sessions the least recently used is ended, never one in use', async () => {
  const { send, post, hello, forgotten } = await openRaw({ sessions: 2 });
  const first = await hello();
  const second = await hello();
  await (await post(LIST, first)).text();
  const third = await hello();
  await expect.poll(() => forgotten).toEqual([second]);
  for (const session of [first, third]) await send('GET', undefined, { 'mcp-session-id': session });
  const refused = await post({ id: 1, ...HELLO });
  expect(refused.status).toBe(503);
});

test('[MCP-31] a user’s sessions displace each other, not those of another user', async () => {
  let user = 'ann';
  const { hello, post, forgotten } = await openRaw({ sessions: 4 }, () => ({
    ...SOMEBODY,
    user,
    keyId: user,
  }));
  const ann = await hello();
  user = 'greedy';
  const greedy: string[] = [];
  for (let n = 0; n < 9; n++) greedy.push(await hello());
  await expect.poll(() => forgotten).toEqual(greedy.slice(0, 6));
  user = 'ben';
  const ben = await hello();
  await expect.poll(() => forgotten).toEqual(greedy.slice(0, 7));
  expect((await post(LIST, ben)).status).toBe(200);
  user = 'ann';
  expect((await post(LIST, ann)).status).toBe(200);
});

test('[MCP-18] an invalid message is refused with an error of the protocol', async () => {
  const { send, post } = await openRaw();
  expect((await send('POST', '{')).status).toBe(400);
  expect(await (await send('POST', '{')).json()).toMatchObject({ error: { code: -32700 } });
  expect((await send('POST', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await send('PUT', undefined)).status).toBe(400);
  expect((await post({ nothing: true })).status).toBe(400);
});

test('[MCP-26] a client that lost its connection comes back for the answer', async () => {
  const { send, post, hello } = await openRaw();
  const session = await hello();
  const steps = { name: 'pml_execute', arguments: { tool: 'bench:steps', arguments: { steps: 40 } } };
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: steps };
  const cut = await send('POST', body, headers);
  const reader = cut.body!.getReader();
  const begin = new TextDecoder().decode((await reader.read()).value);
  const [, id = ''] = /^id: (.+)$/m.exec(begin) ?? [];
  expect(begin).toMatch(/^retry: \d+$/m);
  await reader.cancel();
  const resumed = await send('GET', undefined, { ...headers, 'last-event-id': id });
  expect(await resumed.text()).toContain('"id":7');
  expect((await post(LIST, session)).status).toBe(200);
});

test('[MCP-51] a call that is answered at once needs no stream; one that takes long or says something first gets one', async () => {
  const { send, hello, server } = await openRaw();
  const headers = { 'mcp-session-id': await hello(), 'mcp-protocol-version': '2025-11-25' };
  const call = async (id: number, tool: string, args: JsonObject = {}, meta?: JsonObject) => {
    const params = {
      name: 'pml_execute',
      arguments: { tool, arguments: args },
      ...(meta && { _meta: meta }),
    };
    const response = await send('POST', { jsonrpc: '2.0', id, method: 'tools/call', params }, headers);
    return { type: response.headers.get('content-type'), text: await response.text() };
  };
  const prompt = await call(2, 'bench:echo', { text: 'hello' });
  expect(prompt.type).toBe('application/json');
  expect(JSON.parse(prompt.text)).toMatchObject({
    id: 2,
    result: { structuredContent: { status: 'success' } },
  });
  const unknown = await send(
    'POST',
    { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'nothing' } },
    headers,
  );
  expect(await unknown.json()).toMatchObject({ id: 3, result: { isError: true } });

  const slow = await call(4, 'bench:steps', { steps: 40 });
  expect(slow.type).toBe('text/event-stream');
  expect(slow.text).toContain('"id":4');
  const talking = await call(5, 'bench:steps', { steps: 2 }, { progressToken: 'p' });
  expect(talking.type).toBe('text/event-stream');
  expect(talking.text.indexOf('notifications/progress')).toBeLessThan(talking.text.indexOf('"id":5'));
  // Each call was made once, however it was answered.
  expect(server.seen.calls).toBe(3);
});

test('[MCP-51] what a call says right before its answer comes before it', async () => {
  const shout: MemoryTool = {
    definition: { name: 'shout', description: 'Says something and ends', inputSchema: { type: 'object' } },
    call: (_args, { progress }) => {
      for (let step = 1; step <= 3; step++) progress({ progress: step, message: `step ${step}` });
      return { content: [{ type: 'text', text: 'done' }] };
    },
  };
  const server = benchServer('bench', { tools: [shout] });
  const { send, hello } = await openRaw({}, () => SOMEBODY, server);
  const headers = { 'mcp-session-id': await hello(), 'mcp-protocol-version': '2025-11-25' };
  const params = { name: 'pml_execute', arguments: { tool: 'bench:shout' }, _meta: { progressToken: 1 } };
  for (let id = 2; id < 22; id++) {
    const response = await send('POST', { jsonrpc: '2.0', id, method: 'tools/call', params }, headers);
    const text = await response.text();
    expect(text.match(/step [123]/g)).toEqual(['step 1', 'step 2', 'step 3']);
    expect(text.indexOf('step 3')).toBeLessThan(text.indexOf(`"id":${id}`));
  }
});

test('[MCP-51] a call that is cancelled before it has a stream ends', async () => {
  const { send, post, hello, server } = await openRaw();
  const session = await hello();
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const params = { name: 'pml_execute', arguments: { tool: 'bench:hang' } };
  const hanging = send('POST', { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, headers);
  await expect.poll(() => server.seen.calls).toBe(1);
  await post({ method: 'notifications/cancelled', params: { requestId: 2 } }, session);
  await expect.poll(() => server.seen.cancelled).toBe(1);
  expect(await (await hanging).text()).toContain('"id":2');
});

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

function modernCall(send: Awaited<ReturnType<typeof openRaw>>['send']) {
  return async (more: object = {}): Promise<JsonObject> => {
    const call = { tool: 'bench:ask', arguments: { question: 'who?' } };
    const params = { name: 'pml_execute', arguments: call, _meta: ENVELOPE, ...more };
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'pml_execute',
    };
    const response = await send('POST', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
    const text = await response.text();
    return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}'));
  };
}

test('[MCP-19] a held call is resumed by its signed state, once, and asks again for missing answers', async () => {
  const { send } = await openRaw();
  const call = modernCall(send);
  const asked = (await call()).result as { inputRequests: Record<string, JsonObject>; requestState: string };
  expect(asked).toMatchObject({ resultType: 'input_required' });
  const [[key, question]] = Object.entries(asked.inputRequests) as [[string, JsonObject]];
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'who?' } });

  const silent = (await call({ requestState: asked.requestState, inputResponses: {} })).result;
  expect(silent).toMatchObject({ resultType: 'input_required', inputRequests: { [key]: question } });
  const { requestState } = silent as { requestState: string };
  const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } } };
  const done = await call({ requestState, inputResponses });
  expect(done.result).toMatchObject({
    structuredContent: { status: 'success', result: { content: { name: 'Ada' } } },
  });
  expect(await call({ requestState, inputResponses })).toMatchObject({ error: { code: -32602 } });
});

test('[MCP-19] a forged state is refused, and an unanswered call is abandoned', async () => {
  const { send } = await openRaw({ holdMs: 50 });
  const call = modernCall(send);
  const { requestState } = (await call()).result as { requestState: string };
  // A state we did not sign may be a server's own; the gateway itself starts the call again.
  const forged = await call({ requestState: `${requestState.slice(0, -2)}xx`, inputResponses: {} });
  expect(forged.result).toMatchObject({ resultType: 'input_required' });
  await sleep(120);
  expect(await call({ requestState, inputResponses: {} })).toMatchObject({ error: { code: -32602 } });
});
