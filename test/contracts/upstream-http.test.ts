import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject, UpstreamEvent, UpstreamOptions } from '../../src/engine/ports.ts';
import { serveFixture } from '../conformance/fixture/serve-http.ts';
import {
  type HttpFixture,
  type HttpFixtureOptions,
  startHttpFixture,
} from '../fixtures/servers/http-server.ts';
import { freePort } from '../support/free-port.ts';
import { answeringClient, textOf } from './upstream-contract.ts';
import { eventually, httpServer, type OpenUpstream, openUpstream } from './upstream-support.ts';

const OF_TASKS = {
  client: {
    ...answeringClient('bob'),
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  },
};

let opened: OpenUpstream | undefined;
const fixtures: HttpFixture[] = [];
const processes: ChildProcess[] = [];
afterEach(async () => {
  await opened?.dispose();
  for (const fixture of fixtures.splice(0)) await fixture.close();
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});

const open: typeof openUpstream = (servers, options) => {
  opened = openUpstream(servers, options);
  return opened;
};
const serve = async (options: HttpFixtureOptions = {}) => {
  const fixture = await startHttpFixture(options);
  fixtures.push(fixture);
  return fixture;
};

for (const era of ['modern', 'legacy'] as const) {
  describe(`over HTTP, ${era}`, () => {
    test('[UP-47] a call whose client is being asked leaves room for others', async () => {
      const { url } = await serve({ era });
      const { upstream } = open([httpServer('bench', url, { concurrency: 1 })]);
      const person = answeringClient('person', 'Ada');
      const answered = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const slow = {
        ...person,
        ask: async (...question: Parameters<typeof person.ask>) => {
          asked.resolve();
          await answered.promise;
          return person.ask(...question);
        },
      };
      const asking = upstream.callTool('bench', 'ask', { question: 'Who?' }, { client: slow });
      await asked.promise;
      const other = await upstream.callTool('bench', 'echo', { text: 'hi' });
      expect(other).toMatchObject({ ok: true });
      answered.resolve();
      expect(await asking).toMatchObject({ ok: true });
      expect(upstream.servers()).toMatchObject([{ callsInFlight: 0, callsWaiting: 0 }]);
    });

    test('[UP-28] a server cut off during a call gives a clear error at once, and calls work when it is back', async () => {
      const { url, port, close, bench } = await serve({ era, port: await freePort() });
      const { upstream } = open([httpServer('bench', url)]);
      await upstream.start('bench');
      // Progress makes the answer a stream, which is what breaks off.
      const calls = ['progress', 'hang'].map((tool) =>
        upstream.callTool('bench', tool, { steps: 100, ms: 50 }),
      );
      await eventually(() => bench.seen.calls).toBe(2);
      await close();
      for (const reply of await Promise.all(calls)) {
        expect(reply).toMatchObject({
          ok: false,
          error: { code: 'upstream_unavailable', errorType: 'NETWORK' },
        });
      }
      expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({
        ok: false,
        error: { code: 'upstream_unavailable', message: expect.stringMatching(/cannot be reached/) },
      });
      await serve({ era, port });
      await eventually(() => upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
    });

    test('[UP-29] a lost server is reconnected in the background, and subscriptions are renewed', async () => {
      const { url, port, close } = await serve({ era, port: await freePort() });
      const { upstream } = open([httpServer('bench', url)]);
      const client = answeringClient('ann');
      const watched = await upstream.request(
        'bench',
        'resources/subscribe',
        { uri: 'bench://note' },
        { client },
      );
      expect(watched).toMatchObject({ ok: true });
      await close();
      await eventually(() => upstream.servers()[0]?.state).toBe('backoff');
      const { bench } = await serve({ era, port });
      await eventually(() => upstream.servers()[0]?.state).toBe('ready');
      const events: UpstreamEvent[] = [];
      upstream.subscribe((event) => events.push(event));
      // It is ready before it listens again, and notifications in between are lost.
      await eventually(() => {
        for (const tell of bench.onChange) tell('resource');
        return events;
      }).toContainEqual(expect.objectContaining({ method: 'notifications/resources/updated' }));
    });

    test('[UP-29] a stream that was cut off is reopened', async () => {
      const { url, bench, cutConnections } = await serve({ era });
      const { upstream } = open([httpServer('bench', url)]);
      await upstream.start('bench');
      const told: UpstreamEvent[] = [];
      upstream.subscribe((event) => event.type === 'notification' && told.push(event));
      const tellAgain = () => {
        for (const tell of bench.onChange) tell('tools');
        return told.length;
      };
      await eventually(tellAgain).toBeGreaterThan(0);
      cutConnections();
      await upstream.callTool('bench', 'echo', {});
      told.length = 0;
      await eventually(tellAgain).toBeGreaterThan(0);
    });

    test('[UP-30] a subscription is shared by clients and ends with the last', async () => {
      const { url, bench } = await serve({ era });
      const { upstream } = open([httpServer('bench', url)]);
      const [ann, ben] = [answeringClient('ann'), answeringClient('ben')];
      const note = { uri: 'bench://note' };
      for (const client of [ann, ben]) {
        expect(await upstream.request('bench', 'resources/subscribe', note, { client })).toMatchObject({
          ok: true,
        });
      }
      const updates: UpstreamEvent[] = [];
      upstream.subscribe((event) => event.type === 'notification' && updates.push(event));
      const touched = async () => {
        updates.length = 0;
        await eventually(() => {
          for (const tell of bench.onChange) tell('resource');
          // Travels the same way after it, so it comes last.
          for (const tell of bench.onChange) tell('tools');
          return updates;
        }).toContainEqual(expect.objectContaining({ method: 'notifications/tools/list_changed' }));
        return updates.some(
          (event) => 'method' in event && event.method === 'notifications/resources/updated',
        );
      };
      expect(await touched()).toBe(true);
      await upstream.request('bench', 'resources/unsubscribe', note, { client: ann });
      expect(await touched()).toBe(true);
      await upstream.forgetClient('ben');
      // A server of the older era may notify without a subscription.
      if (era === 'modern') await eventually(touched).toBe(false);
    });

    test('[UP-31] log messages of a call are forwarded, at the requested level, to the client that asked', async () => {
      const { url } = await serve({ era });
      const { upstream } = open([httpServer('bench', url)]);
      const [ann, ben] = [answeringClient('ann'), answeringClient('ben')];
      const messages: UpstreamEvent[] = [];
      upstream.subscribe((event) => event.type === 'notification' && messages.push(event));
      const level = await upstream.request('bench', 'logging/setLevel', { level: 'debug' }, { client: ann });
      expect(level).toMatchObject({ ok: true });
      await upstream.callTool('bench', 'log', { message: 'for ann' }, { client: ann });
      await eventually(() => messages).toMatchObject([
        { method: 'notifications/message', params: { level: 'info', data: 'for ann' }, clientId: 'ann' },
      ]);
      await upstream.callTool('bench', 'log', { message: 'for ben' }, { client: ben });
      const forBen = era === 'modern' ? 0 : 1;
      await eventually(() =>
        messages.filter((event) => 'clientId' in event && event.clientId === 'ben'),
      ).toHaveLength(forBen);
    });
  });
}

test('[UP-32] a forgotten session is replaced silently', async () => {
  const { url, forgetSessions } = await serve({ era: 'legacy' });
  const { upstream } = open([httpServer('bench', url)]);
  await upstream.start('bench');
  forgetSessions();
  expect(await upstream.callTool('bench', 'echo', { text: 'still here' })).toMatchObject({ ok: true });
});

test('[UP-33] an input_required result is returned when the caller wants it', async () => {
  const { url } = await serve({ era: 'modern' });
  const { upstream } = open([httpServer('bench', url)]);
  const options = { client: answeringClient('ann'), passInputRequired: true };
  const asked = await upstream.callTool('bench', 'ask', { question: 'who?' }, options);
  expect(asked).toMatchObject({
    ok: true,
    value: { resultType: 'input_required', inputRequests: { question: { method: 'elicitation/create' } } },
  });
  const requestState = asked.ok ? asked.value.requestState : null;
  const inputResponses = { question: { action: 'accept', content: { name: 'Ann' } } };
  const answered = await upstream.callTool(
    'bench',
    'ask',
    { question: 'who?' },
    { ...options, extraParams: { inputResponses, requestState } },
  );
  expect(answered.ok && textOf(answered.value)).toBe('{"action":"accept","name":"Ann"}');
});

test('[TASK-3] a task of a 2026-07-28 server is followed: the client gets its question, the call its failure or result', async () => {
  const { url, close } = await serveFixture();
  onTestFinished(close);
  const { upstream } = open([httpServer('suite', url)]);
  const client = {
    ...answeringClient('ann'),
    ask: async () => ({ action: 'accept', content: { confirm: true } }),
  };
  const call = (name: string, args: JsonObject, options: UpstreamOptions = {}) =>
    upstream.callTool('suite', name, args, { client, ...options });
  const confirmed = await call('confirm_delete', { filename: 'a.txt' });
  expect(confirmed.ok && textOf(confirmed.value)).toContain('a.txt: {"action":"accept"');
  const broken = { code: 'upstream_error', rpc: { code: -32603, message: 'The job broke' } };
  expect(await call('protocol_error_job', {})).toMatchObject({ ok: false, error: broken });
  const created = await call('slow_compute', { seconds: 60 }, { ...OF_TASKS, passTask: true });
  expect(created).toMatchObject({ ok: true, value: { resultType: 'task', status: 'working' } });
  const cancel = new AbortController();
  const endless = call('slow_compute', { seconds: 60 }, { signal: cancel.signal });
  cancel.abort();
  expect(await endless).toMatchObject({ ok: false });
});

test('[UP-34] in the newer era each request declares its own client', async () => {
  const { url } = await serve({ era: 'modern' });
  const { upstream } = open([httpServer('bench', url)]);
  const declared = async (client?: ReturnType<typeof answeringClient>) => {
    const reply = await upstream.callTool('bench', 'client_capabilities', {}, client ? { client } : {});
    return reply.ok ? reply.value.structuredContent : reply.error;
  };
  expect(await declared(answeringClient('ann'))).toEqual({ elicitation: { form: {} } });
  expect(await declared()).toEqual({});
});

test('[UP-34] arguments that a server wants in headers are sent there', async () => {
  const guard = async (request: Request) => {
    if (request.headers.get('mcp-name') !== 'mirrored' || request.headers.get('mcp-param-region') === 'north')
      return null;
    const { id } = (await request.clone().json()) as { id: number };
    const error = { code: -32020, message: 'Header mismatch' };
    return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
  };
  const { url } = await serve({ era: 'modern', guard });
  const { upstream } = open([httpServer('bench', url)]);
  const reply = await upstream.callTool('bench', 'mirrored', { region: 'north' });
  expect(reply.ok ? textOf(reply.value) : reply.error).toBe('north');
  const catalogue = await upstream.catalogue('bench');
  const names = catalogue.ok ? catalogue.value.map((tool) => tool.name) : [];
  expect(names).toContain('mirrored');
  expect(names).not.toContain('unsound');
});

test('[UP-35] headers and bearer tokens go with every request', async () => {
  const seen = new Set<string>();
  const guard = async (request: Request) => {
    seen.add(`${request.headers.get('authorization')} ${request.headers.get('x-team')}`);
    return null;
  };
  const { url } = await serve({ guard });
  const auth = { kind: 'bearer', token: 'sesame' } as const;
  const { upstream } = open([httpServer('bench', url, { headers: { 'x-team': 'blue' }, auth })]);
  expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
  expect([...seen]).toEqual(['Bearer sesame blue']);
});

test('[UP-35] a server that requires a login says how to log in', async () => {
  const guard = async () => new Response('no', { status: 401 });
  const { url } = await serve({ guard });
  const { upstream } = open([httpServer('bench', url)]);
  expect(await upstream.start('bench')).toMatchObject({
    ok: false,
    error: {
      code: 'unauthorized',
      errorType: 'PERMISSION',
      hint: expect.stringMatching(/pml servers login bench/),
    },
  });
});

test('[UP-36] servers with the older SSE transport are reached, by type and by trying', async () => {
  const port = await freePort();
  const everything = dirname(
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json'),
  );
  const child = spawn(process.execPath, [join(everything, 'dist/index.js'), 'sse'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  processes.push(child);
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  await eventually(() => said).toContain('running on port');
  const url = `http://127.0.0.1:${port}/sse`;
  const { upstream } = open([httpServer('typed', url, { transport: 'sse' }), httpServer('tried', url)]);
  for (const server of ['typed', 'tried']) {
    expect(await upstream.callTool(server, 'echo', { message: 'hello' })).toMatchObject({
      ok: true,
      value: { content: [{ text: 'Echo: hello' }] },
    });
  }
  child.kill('SIGKILL');
  await eventually(() => upstream.servers().map(({ state }) => state)).toEqual(['backoff', 'backoff']);
});
