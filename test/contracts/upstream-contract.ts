import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  JsonObject,
  Upstream,
  UpstreamClient,
  UpstreamEvent,
  UpstreamProgress,
} from '../../src/engine/ports.ts';
import { eventually } from './upstream-support.ts';

export interface OpenedUpstream {
  readonly upstream: Upstream;
  dispose(): Promise<void>;
}

/** A client that answers every question with the same words, and remembers what it was asked. */
export function answeringClient(id: string, name = id): UpstreamClient & { readonly asked: JsonObject[] } {
  const asked: JsonObject[] = [];
  return {
    id,
    asked,
    capabilities: { elicitation: { form: {} } },
    ask: async (method, params) => {
      asked.push({ method, message: params.message });
      return { action: 'accept', content: { name } };
    },
  };
}

export const textOf = (result: JsonObject): unknown =>
  (result.content as { text?: string }[] | undefined)?.[0]?.text;

/** What every upstream promises; `open` gives one with a server `bench` that has the workbench's tools. */
export function upstreamContract(name: string, open: () => Promise<OpenedUpstream>): void {
  describe(`upstream: ${name}`, () => {
    let opened: OpenedUpstream;
    let upstream: Upstream;
    beforeAll(async () => {
      opened = await open();
      upstream = opened.upstream;
    });
    afterAll(() => opened?.dispose());

    test('[UP-1] nothing starts before it is needed', () => {
      expect(upstream.servers()).toMatchObject([{ name: 'bench', state: 'idle', toolCount: null }]);
    });

    test('[UP-2] a server is started by the first request and says who it is', async () => {
      const states: string[] = [];
      const stop = upstream.subscribe((event) => event.type === 'state' && states.push(event.state));
      const reply = await upstream.start('bench');
      stop();
      expect(states).toEqual(['starting', 'ready']);
      expect(reply).toMatchObject({
        ok: true,
        value: { info: { name: 'workbench' }, instructions: 'Try things.', capabilities: { tools: {} } },
      });
    });

    test('[UP-3] the catalogue has every tool as the server defines it', async () => {
      const reply = await upstream.catalogue('bench');
      if (!reply.ok) throw new Error(reply.error.message);
      const names = reply.value.map((tool) => tool.name);
      expect(names).toEqual(expect.arrayContaining(['echo', 'ask', 'hang', 'progress']));
      const echo = reply.value.find((tool) => tool.name === 'echo');
      expect(echo).toMatchObject({ description: 'The tool echo', _meta: { 'fixture/unknown': 'echo' } });
      expect(upstream.servers()).toMatchObject([{ state: 'ready', toolCount: names.length }]);
    });

    test('[UP-4] arguments and results pass untouched, unknown fields included', async () => {
      const args = { text: 'ä 🙂', deep: { list: [1, null, { x: true }] }, __proto: 'kept' };
      const reply = await upstream.callTool('bench', 'echo', args);
      expect(reply).toMatchObject({
        ok: true,
        value: {
          content: [{ type: 'text', text: 'ä 🙂' }],
          structuredContent: { echoed: args },
          'fixture/extra': 1,
        },
      });
    });

    test('[UP-5] a failed tool is a result', async () => {
      const reply = await upstream.callTool('bench', 'fail', {});
      expect(reply).toMatchObject({ ok: true, value: { isError: true } });
    });

    test("[UP-6] a server's error comes back as data, with its own code", async () => {
      expect(await upstream.callTool('bench', 'reject', {})).toMatchObject({
        ok: false,
        error: {
          code: 'upstream_error',
          errorType: 'UNKNOWN',
          rpc: { code: -32050, message: 'rejected', data: { because: 'of a test' } },
        },
      });
      expect(await upstream.callTool('bench', 'no_such_tool', {})).toMatchObject({
        ok: false,
        error: { code: 'upstream_error', errorType: 'NOT_FOUND' },
      });
    });

    test('[UP-7] a server that is not configured is NOT_FOUND', async () => {
      const missing = { ok: false, error: { code: 'not_found', errorType: 'NOT_FOUND' } };
      expect(await upstream.callTool('nobody', 'echo', {})).toMatchObject(missing);
      expect(await upstream.start('nobody')).toMatchObject(missing);
    });

    test('[UP-8] other requests pass through', async () => {
      const read = await upstream.request('bench', 'resources/read', { uri: 'bench://note' });
      expect(read).toMatchObject({ ok: true, value: { contents: [{ text: 'a note' }] } });
      const gone = await upstream.request('bench', 'resources/read', { uri: 'bench://gone' });
      expect(gone).toMatchObject({ ok: false, error: { errorType: 'NOT_FOUND' } });
      const prompt = { name: 'greet', arguments: { name: 'Ada' } };
      const got = await upstream.request('bench', 'prompts/get', prompt);
      expect(got).toMatchObject({ ok: true, value: { messages: [{ content: { text: 'Hello Ada' } }] } });
      const completion = {
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'name', value: 'a' },
      };
      const completed = await upstream.request('bench', 'completion/complete', completion);
      expect(completed).toMatchObject({ ok: true, value: { completion: { values: ['anna'] } } });
      expect(await upstream.request('bench', 'ping', {})).toEqual({ ok: true, value: {} });
      expect(await upstream.request('bench', 'no/such/method', {})).toMatchObject({
        ok: false,
        error: { errorType: 'NOT_FOUND', rpc: { code: -32601 } },
      });
    });

    test('[UP-9] silence beyond the timeout is TIMEOUT', async () => {
      const reply = await upstream.callTool('bench', 'hang', {}, { timeoutMs: 50 });
      expect(reply).toMatchObject({ ok: false, error: { code: 'upstream_timeout', errorType: 'TIMEOUT' } });
    });

    test('[UP-10] progress is reported, and restarts the timeout', async () => {
      const told: UpstreamProgress[] = [];
      const reply = await upstream.callTool(
        'bench',
        'progress',
        { steps: 8, ms: 400 },
        { timeoutMs: 3_000, onProgress: (progress) => told.push(progress) },
      );
      expect(reply).toMatchObject({ ok: true });
      expect(told.map(({ progress }) => progress)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(told.at(-1)).toEqual({ progress: 8, total: 8, message: 'step 8' });
    });

    test('[UP-11] a cancelled request ends at once, on the server too', async () => {
      const seen = async () => {
        const reply = await upstream.callTool('bench', 'list_seen', {});
        return reply.ok ? (reply.value.structuredContent as { cancelled: number }).cancelled : -1;
      };
      const before = await seen();
      const controller = new AbortController();
      const hanging = upstream.callTool('bench', 'hang', {}, { signal: controller.signal });
      await upstream.callTool('bench', 'echo', {});
      controller.abort();
      expect(await hanging).toMatchObject({ ok: false, error: { code: 'cancelled' } });
      await eventually(seen).toBe(before + 1);
      const late = await upstream.callTool('bench', 'echo', {}, { signal: controller.signal });
      expect(late).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    });

    test('[UP-12] without a client to ask, the call or the tool fails', async () => {
      const reply = await upstream.callTool('bench', 'ask', { question: 'anyone?' });
      expect(reply.ok && reply.value.isError !== true).toBe(false);
    });

    test('[UP-12] a question of a server during a call goes to the client of that call', async () => {
      const clients = ['ann', 'ben', 'cas'].map((id) => answeringClient(id));
      const replies = await Promise.all(
        clients.map((client) =>
          upstream.callTool('bench', 'ask', { question: `for ${client.id}` }, { client }),
        ),
      );
      const texts = replies.map((reply) => (reply.ok ? textOf(reply.value) : reply.error));
      expect(texts).toEqual(clients.map(({ id }) => JSON.stringify({ action: 'accept', name: id })));
      expect(clients.map(({ asked }) => asked)).toEqual(
        clients.map(({ id }) => [{ method: 'elicitation/create', message: `for ${id}` }]),
      );
    });

    test('[UP-13] a person may take longer than the timeout', async () => {
      const slow: UpstreamClient = {
        ...answeringClient('slow'),
        ask: (_method, _params, signal) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            setTimeout(() => resolve({ action: 'decline' }), 3_200);
          }),
      };
      const options = { client: slow, timeoutMs: 3_000 };
      const reply = await upstream.callTool('bench', 'ask', { question: 'well?' }, options);
      expect(reply.ok ? textOf(reply.value) : reply.error).toBe('{"action":"decline"}');
    });

    test('[UP-14] changes of the catalogue are announced', async () => {
      const events: UpstreamEvent[] = [];
      const stop = upstream.subscribe((event) => events.push(event));
      await upstream.callTool('bench', 'add_tool', { name: 'brand_new' });
      await eventually(() => events).toContainEqual(
        expect.objectContaining({
          type: 'notification',
          server: 'bench',
          method: 'notifications/tools/list_changed',
          clientId: null,
        }),
      );
      stop();
      const reply = await upstream.catalogue('bench');
      expect(reply.ok && reply.value.map((tool) => tool.name)).toContain('brand_new');
    });

    test('[UP-15] a restarted server works again, and a closed upstream has no running servers', async () => {
      expect(await upstream.restart('bench')).toMatchObject({ ok: true });
      expect(await upstream.callTool('bench', 'echo', { text: 'again' })).toMatchObject({ ok: true });
      await upstream.close();
      expect(upstream.servers()).toMatchObject([{ pid: null, protocolVersion: null }]);
    });
  });
}
