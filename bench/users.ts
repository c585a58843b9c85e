/**
 * Sixty-four users of one gateway, each with a key: all honest, then one of them hostile, in turns. The waiting time
 * of the others must not double. `--minutes N` in total; 4 by default.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../src/client.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { servePml } from '../test/support/run-pml.ts';
import { percentile } from './support/percentile.ts';

const PARROT = fileURLToPath(new URL('../test/fixtures/servers/parrot-server.ts', import.meta.url));
const HOSTILE = fileURLToPath(new URL('./support/hostile-user.ts', import.meta.url));

const DEFAULTS = {
  users: 64,
  minutes: 4,
  /** Number of turns, each honest, then with one hostile user, so that noise of the machine affects both. */
  turns: 2,
  /** Milliseconds between two calls of a user. */
  pause: { least: 2_000, more: 4_000 },
  warmUpMs: 10_000,
  /** Time for the hostile user's calls to end. */
  drainMs: 5_000,
};

interface User {
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

const KINDS = ['tool', 'search', 'code', 'suggest'] as const;
type Kind = (typeof KINDS)[number];
type Times = Record<Kind, number[]> & { failed: number };

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const parrot = { command: process.execPath, args: [PARROT] };
  const permissions = { ask: ['parrot:define'], default: 'allow' };
  const pml = await servePml({ data: dir, config: { mcpServers: { parrot }, pml: { permissions } } });
  try {
    const { url, token } = pml;
    const keys = await makeKeys(url, token);
    const users = await Promise.all(keys.slice(1).map((key, i) => openUser(url, key, i)));
    const minutes = Number(process.env.PML_BENCH_MINUTES ?? DEFAULTS.minutes);
    const turnMs = (minutes * 60_000) / (2 * DEFAULTS.turns);
    await work(url, users, DEFAULTS.warmUpMs);
    const honest = none();
    const beside = none();
    const loads: number[] = [];
    for (let turn = 0; turn < DEFAULTS.turns; turn++) {
      add(honest, await work(url, users, turnMs));
      loads.push(loadavg()[0]!);
      const hostile = fork(HOSTILE, [url, keys[0]!]);
      add(beside, await work(url, users, turnMs));
      loads.push(loadavg()[0]!);
      hostile.kill('SIGKILL');
      await once(hostile, 'exit');
      await sleep(DEFAULTS.drainMs);
    }
    const all = (times: Times) => KINDS.flatMap((kind) => times[kind]);
    const row = (label: string, before: number[], after: number[], share: number, goal?: string) => ({
      label,
      value: percentile(after, share),
      unit: 'ms',
      ratio: percentile(after, share) / percentile(before, share),
      ...(goal !== undefined && { goal }),
    });
    return {
      name: 'users',
      rows: [
        { label: 'all honest: p50', value: percentile(all(honest), 0.5), unit: 'ms' },
        { label: 'all honest: p99', value: percentile(all(honest), 0.99), unit: 'ms' },
        row('one hostile, the other 63: p50', all(honest), all(beside), 0.5),
        row('one hostile, the other 63: p99', all(honest), all(beside), 0.99, '<= 2x'),
        { label: 'calls that failed', value: honest.failed + beside.failed, unit: '', goal: '<= 0' },
        ...KINDS.flatMap((kind) => [
          row(`  ${kind}: p50`, honest[kind], beside[kind], 0.5),
          row(`  ${kind}: p99`, honest[kind], beside[kind], 0.99),
        ]),
      ],
      below: [
        `${minutes} minutes; ${all(honest).length} calls while all were honest, ${all(beside).length} beside a hostile user`,
        `load of the machine after each turn: ${loads.map((load) => load.toFixed(1)).join(', ')}`,
      ].join('\n'),
    };
  } finally {
    await pml.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Like `pml keys create`, without a process for each. */
async function makeKeys(url: string, token: string): Promise<string[]> {
  const pml = await connect({ url, token });
  const keys: string[] = [];
  for (let i = 0; i < DEFAULTS.users; i++) keys.push((await pml.createKey({ name: `user${i}` })).key);
  return keys;
}

/** An MCP client with its own session. */
async function openUser(url: string, key: string, seed: number): Promise<User> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
  await reply.text();
  const session = reply.headers.get('mcp-session-id') ?? '';
  return { headers: { ...headers, 'mcp-session-id': session }, random: createRandom(seed) };
}

const none = (): Times => ({ tool: [], search: [], code: [], suggest: [], failed: 0 });

function add(all: Times, more: Times): void {
  for (const kind of KINDS) all[kind].push(...more[kind]);
  all.failed += more.failed;
}

/** Lets all users work for this long; returns the duration of each call. */
async function work(url: string, users: readonly User[], ms: number): Promise<Times> {
  const times = none();
  const last = performance.now() + ms;
  await Promise.all(
    users.map(async (user) => {
      const { least, more } = DEFAULTS.pause;
      // Staggered starts.
      await sleep(user.random.int(least + more));
      while (performance.now() < last) {
        const kind = (['tool', 'tool', 'search', 'code', 'suggest'] as const)[user.random.int(5)]!;
        const start = performance.now();
        const isDone = await call(url, user, kind);
        times[kind].push(performance.now() - start);
        if (!isDone) times.failed += 1;
        await sleep(least + user.random.int(more));
      }
    }),
  );
  return times;
}

async function call(url: string, { headers, random }: User, kind: Kind): Promise<boolean> {
  const thing = `thing ${random.int(50)}`;
  const tools: Readonly<Record<Kind, readonly [name: string, args: object, expected: string]>> = {
    tool: ['pml_execute', { tool: 'parrot:reply', arguments: {}, intent: `ask for ${thing}` }, 'fine'],
    search: ['pml_search_tools', { query: `say ${thing}` }, 'parrot'],
    code: [
      'pml_execute',
      { code: 'return [await mcp.parrot.reply({}), 6 * 7]', intent: `make ${thing}` },
      '42',
    ],
    suggest: ['pml_suggest', { intent: `ask for ${thing}` }, 'result'],
  };
  const [name, args, expected] = tools[kind];
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
  const text = await reply.text();
  if (text.includes(expected)) return true;
  process.stderr.write(`${kind} was answered with ${reply.status} ${text.slice(0, 500)}\n`);
  return false;
}
