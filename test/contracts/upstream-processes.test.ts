import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { reapOrphans } from '../../src/adapters/upstream/process-tree.ts';
import type { ToolResult, UpstreamReply } from '../../src/engine/ports.ts';
import { answeringClient } from './upstream-contract.ts';
import {
  commandServer,
  eventually,
  isAlive,
  type OpenUpstream,
  openUpstream,
  stdioServer,
} from './upstream-support.ts';

const GATEWAY = fileURLToPath(import.meta.resolve('../fixtures/servers/gateway.ts'));

let opened: OpenUpstream | undefined;
afterEach(() => opened?.dispose());

const open: typeof openUpstream = (servers, options) => {
  opened = openUpstream(servers, options);
  return opened;
};

function resultOf(reply: UpstreamReply<ToolResult>): ToolResult {
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value;
}

const unavailable = (message: RegExp) => ({
  ok: false,
  error: { code: 'upstream_unavailable', errorType: 'NETWORK', message: expect.stringMatching(message) },
});

describe('a process that fails', () => {
  for (const era of ['legacy', 'modern']) {
    test(`[UP-16] killed mid-call: a clear error, and the next call works (${era})`, async () => {
      const { upstream } = open([stdioServer('bench', era)]);
      const hanging = upstream.callTool('bench', 'hang', {});
      expect(await upstream.callTool('bench', 'die', {})).toMatchObject(
        unavailable(/Server "bench".* it ended with signal SIGKILL during "die"/),
      );
      expect(await hanging).toMatchObject(unavailable(/it ended with signal SIGKILL during "hang"/));
      expect(upstream.servers()).toMatchObject([{ state: 'failed', pid: null }]);
      expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
      expect(upstream.servers()).toMatchObject([{ state: 'ready', error: null }]);
    });
  }

  test('[UP-17] one that never answers is abandoned, with its output, and ended', async () => {
    // Without a module to load, it has written long before it is given up.
    const words = 'process.stderr.write("I will never answer\\n"); process.stdin.resume();';
    const mute = commandServer('mute', ['-e', words]);
    const { upstream, dataDir } = open([mute], { startMs: 5_000, probeMs: 300 });
    const reply = await upstream.callTool('mute', 'echo', {});
    expect(reply).toMatchObject({
      ok: false,
      error: {
        code: 'upstream_timeout',
        errorType: 'TIMEOUT',
        message: expect.stringMatching(
          /did not respond within 5000 ms of starting; it last wrote:\nI will never/,
        ),
      },
    });
    expect(readdirSync(join(dataDir, 'children'))).toEqual([]);
  });

  test('[UP-18] garbage on stdout is counted, logged once and harmless', async () => {
    const { upstream, logged } = open([stdioServer('bench', 'garbage')]);
    expect(await upstream.callTool('bench', 'echo', { text: 'clean' })).toMatchObject({ ok: true });
    await eventually(() => upstream.servers()[0]?.garbageLines).toBeGreaterThan(5);
    expect(logged.filter((line) => line.includes('stdout'))).toHaveLength(1);
  });

  test('[UP-46] an endless line does not fill the memory: the server is ended', async () => {
    const { upstream } = open([stdioServer('bench', 'flooding')]);
    expect(await upstream.start('bench')).toMatchObject(
      unavailable(/a message is larger than 67108864 bytes/),
    );
  });

  test('[UP-19] one that dies at startup says how, with its last output', async () => {
    const { upstream } = open([stdioServer('bench', 'dying')]);
    expect(await upstream.start('bench')).toMatchObject(
      unavailable(
        /ended with code 7 during startup; it last wrote:\nreading the settings\nno token in the env/,
      ),
    );
    expect(upstream.servers()).toMatchObject([{ state: 'failed', error: { code: 'upstream_unavailable' } }]);
  });

  test('[UP-19] a command that does not exist is named', async () => {
    const server = { ...commandServer('gone', []), command: '/no/such/command' } as const;
    const { upstream, dataDir } = open([server]);
    expect(await upstream.start('gone')).toMatchObject(
      unavailable(/"\/no\/such\/command" cannot be started/),
    );
    expect(readdirSync(join(dataDir, 'children'))).toEqual([]);
  });

  test('[UP-20] after a failed start the next one waits, longer each time, with jitter', async () => {
    let now = 0;
    const clock = { now: () => new Date(0), monotonic: () => now };
    const backoff = { baseMs: 1_000, maxMs: 3_000 };
    const server = { ...commandServer('bench', []), command: '/no/such/command' } as const;
    const { upstream, logged } = open([server], { clock, backoff, random: () => 0.5 });
    const startsAt = async (time: number, isWanted = false) => {
      now = time;
      const before = logged.length;
      const reply = await upstream.start('bench', { isWanted });
      return { tried: logged.length > before, hint: reply.ok ? null : reply.error.hint };
    };
    expect(await startsAt(0)).toMatchObject({ tried: true });
    expect(await startsAt(749)).toEqual({
      tried: false,
      hint: expect.stringMatching(/^Check "command" and .*retries in 1 s/),
    });
    expect(await startsAt(751)).toMatchObject({ tried: true });
    expect(await startsAt(751 + 1_499)).toMatchObject({ tried: false });
    expect(await startsAt(751 + 1_501)).toMatchObject({ tried: true });
    expect(await startsAt(2_252 + 749, true)).toMatchObject({ tried: true });
    now += 1;
    expect(await upstream.restart('bench')).toMatchObject({ ok: false });
    expect(logged).toHaveLength(5);
  });

  test('[UP-21] a server that ends when the newer era is tried is served in the older one', async () => {
    const { upstream } = open([stdioServer('bench', 'strict')]);
    expect(await upstream.start('bench')).toMatchObject({
      ok: true,
      value: { protocolVersion: '2025-11-25' },
    });
  });

  test('[UP-22] its last 200 lines of stderr are kept', async () => {
    const { upstream } = open([stdioServer('bench', 'talkative')]);
    await upstream.start('bench');
    await eventually(() => upstream.logs('bench').at(-1)).toBe('line 500');
    expect(upstream.logs('bench')).toHaveLength(200);
    expect(upstream.logs('bench')[0]).toBe('line 301');
    expect(upstream.logs('nobody')).toEqual([]);
  });
});

describe('many calls', () => {
  test('[UP-23] a thousand in flight all get their own answer, from one process', async () => {
    const { upstream } = open([stdioServer('bench', 'both', { concurrency: 1_000 })]);
    const states: string[] = [];
    upstream.subscribe((event) => event.type === 'state' && states.push(event.state));
    const calls = Array.from({ length: 1_000 }, (_, at) =>
      upstream.callTool('bench', 'echo', { text: `${at}` }),
    );
    await eventually(() => upstream.servers()).toMatchObject([{ callsInFlight: 1_000 }]);
    const replies = await Promise.all(calls);
    expect(replies.map((reply) => resultOf(reply).content?.[0]?.text)).toEqual(calls.map((_, at) => `${at}`));
    expect(states).toEqual(['starting', 'ready']);
  });

  test('[UP-24] no more calls than the limit run at once; one that gives up leaves the queue', async () => {
    const { upstream, dataDir } = open([stdioServer('bench', 'both', { concurrency: 3 })]);
    await upstream.start('bench');
    const path = join(dataDir, 'go-on');
    // The first take as long as is looked; the others long enough to be under way together.
    const calls = Array.from({ length: 12 }, (_, nth) =>
      nth < 3
        ? upstream.callTool('bench', 'await_file', { path })
        : upstream.callTool('bench', 'sleep', { ms: 200 }),
    );
    const controller = new AbortController();
    const impatient = upstream.callTool('bench', 'echo', {}, { signal: controller.signal });
    await eventually(() => upstream.servers()).toMatchObject([{ callsInFlight: 3, callsWaiting: 10 }]);
    controller.abort();
    expect(await impatient).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    writeFileSync(path, '');
    expect((await Promise.all(calls)).every((reply) => reply.ok)).toBe(true);
    const seen = resultOf(await upstream.callTool('bench', 'list_seen', {})).structuredContent;
    expect(seen).toMatchObject({ calls: 13, cancelled: 0, mostAtOnce: 3 });
  });
});

describe('processes of a server', () => {
  test('[UP-55] an idle one is ended, never during a request, and started again by the next', async () => {
    const { upstream } = open([stdioServer('bench', 'both', { idleStopMs: 50 })]);
    const states: string[] = [];
    upstream.subscribe((event) => event.type === 'state' && states.push(event.state));
    const calls = [upstream.callTool('bench', 'sleep', { ms: 500 }), upstream.callTool('bench', 'echo', {})];
    expect(await Promise.all(calls)).toMatchObject([{ ok: true }, { ok: true }]);
    const pid = upstream.servers()[0]?.pid;
    expect(states).toEqual(['starting', 'ready']);
    await eventually(() => upstream.servers()).toMatchObject([{ state: 'idle', pid: null, error: null }]);
    await eventually(() => isAlive(pid!)).toBe(false);
    expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
    expect(states.slice(0, 5)).toEqual(['starting', 'ready', 'idle', 'starting', 'ready']);
  });

  test('[UP-55] one that a client listens to is not ended until the client leaves', async () => {
    const how = { idleStopMs: 50 };
    const { upstream } = open([stdioServer('bench', 'both', how), stdioServer('later', 'both', how)]);
    await upstream.start('later');
    const note = { uri: 'bench://note' };
    const client = answeringClient('ann');
    expect(await upstream.request('bench', 'resources/subscribe', note, { client })).toMatchObject({
      ok: true,
    });
    const { pid } = upstream.servers()[0]!;
    // Used later, it is idle later: once it is ended, the time of the other one is up, too.
    await upstream.callTool('later', 'echo', {});
    await eventually(() => upstream.servers()[1]).toMatchObject({ state: 'idle' });
    expect(upstream.servers()[0]).toMatchObject({ state: 'ready', pid });
    await upstream.forgetClient('ann');
    await eventually(() => upstream.servers()[0]).toMatchObject({ state: 'idle', pid: null });
  });

  test('[UP-25] closing ends all of them: stubborn ones, children, and detached ones', async () => {
    const { upstream, dataDir } = open([stdioServer('bench', 'stubborn')]);
    const spawned = [false, true].map(async (detached) => {
      const reply = await upstream.callTool('bench', 'spawn', { detached });
      return Number(resultOf(reply).content?.[0]?.text);
    });
    const pids = [...(await Promise.all(spawned)), upstream.servers()[0]?.pid as number];
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    expect(readdirSync(join(dataDir, 'children'))).toHaveLength(1);
    await upstream.close();
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    expect(readdirSync(join(dataDir, 'children'))).toEqual([]);
  });

  test('[UP-26] what a killed gateway left behind is ended by the next start, and nothing else', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'pml-orphans-'));
    const gateway = spawn(process.execPath, [GATEWAY, dataDir]);
    const [line] = await once(gateway.stdout, 'data');
    const pids = JSON.parse(String(line)) as number[];
    expect(await reapOrphans(dataDir)).toEqual([]);
    expect(pids.map(isAlive)).toEqual([true, true, true]);

    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    const reaped = await reapOrphans(dataDir, 200);
    expect(reaped.map(({ server, pids: ended }) => [server, [...ended].sort()])).toEqual([
      ['stubborn', [...pids].sort()],
    ]);
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    expect(await reapOrphans(dataDir)).toEqual([]);
    rmSync(dataDir, { recursive: true });
  });

  test('[UP-26] a process that reuses the pid of an orphan is not touched', async () => {
    const { upstream, dataDir } = open([stdioServer('bench')]);
    await upstream.start('bench');
    const [name] = readdirSync(join(dataDir, 'children'));
    const file = join(dataDir, 'children', name as string);
    const record = JSON.parse(readFileSync(file, 'utf8'));
    const other = {
      ...record,
      startTime: 'another boot:1',
      marker: 'another',
      owner: { pid: 1, startTime: 'x' },
    };
    writeFileSync(join(dataDir, 'children', 'another.json'), JSON.stringify(other));
    expect(await reapOrphans(dataDir)).toEqual([]);
    expect(isAlive(record.pid)).toBe(true);
    expect(readdirSync(join(dataDir, 'children'))).toEqual([name]);
  });

  test("[UP-27] a server sees its own environment, not the gateway's", async () => {
    process.env.PML_TEST_SECRET = 'hidden';
    const { upstream } = open([{ ...stdioServer('bench'), env: { TOKEN: 't' } } as never]);
    const { env } = resultOf(await upstream.callTool('bench', 'process', {})).structuredContent as {
      env: Record<string, string>;
    };
    delete process.env.PML_TEST_SECRET;
    expect(env).toMatchObject({ TOKEN: 't', PATH: process.env.PATH });
    expect(env).not.toHaveProperty('PML_TEST_SECRET');
  });
});
