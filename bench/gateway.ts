import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { LAUNCHER, type ServingPml, servePml } from '../test/support/run-pml.ts';
import { percentile } from './support/percentile.ts';

const ECHO = fileURLToPath(new URL('./support/echo-server.ts', import.meta.url));
const ROUNDS = 600;
const IN_FLIGHT = 32;

const BARE = 'bare';

type Call = () => Promise<unknown>;

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  try {
    return {
      name: 'gateway',
      rows: [...(await latency(dir)), ...(await coldStart(dir))],
    };
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function latency(dir: string) {
  const gateway = await servePml({ data: await configure(dir, 'latency', { echo: [] }) });
  const direct = await connect(new StdioClientTransport({ command: process.execPath, args: [ECHO] }));
  const header = { authorization: `Bearer ${gateway.token}` };
  const over = (path: string) =>
    connect(
      new StreamableHTTPClientTransport(new URL(path, gateway.url), { requestInit: { headers: header } }),
    );
  const http = await over('/mcp');
  const transparent = await over('/mcp/servers/echo');
  const stdio = await connect(pmlStdio(await configure(dir, 'stdio', { echo: [] })));

  const plain = { name: 'echo', arguments: { message: 'hello' } };
  const execute = { name: 'pml_execute', arguments: { tool: 'echo:echo', arguments: { message: 'hello' } } };
  const calls: Record<string, Call> = {
    'direct, stdio': () => direct.callTool(plain),
    'its endpoint /mcp/servers/echo, HTTP': () => transparent.callTool(plain),
    'pml_execute, HTTP': () => http.callTool(execute),
    'pml_execute, stdio': () => stdio.callTool(execute),
  };
  // The cost of HTTP alone on this machine.
  const bare = async () => await (await fetch(`${gateway.url}/healthz`)).text();
  const { [BARE]: bareTimes = [], ...times } = await interleaved({ ...calls, [BARE]: bare });
  const [base] = Object.values(times).map((t) => percentile(t, 0.5));
  const rows = Object.entries(times).flatMap(([label, t], i) => [
    { label: `echo ${label}: p50`, value: percentile(t, 0.5), unit: 'ms' },
    { label: `echo ${label}: p99`, value: percentile(t, 0.99), unit: 'ms' },
    ...(i === 0
      ? []
      : [{ label: `  adds at p50`, value: percentile(t, 0.5) - (base ?? 0), unit: 'ms', goal: '< 1 ms' }]),
  ]);
  rows.push({
    label: 'an empty answer over HTTP (/healthz): p50',
    value: percentile(bareTimes, 0.5),
    unit: 'ms',
  });
  for (const [label, call] of Object.entries(calls)) {
    rows.push({
      label: `echo ${label}: ${IN_FLIGHT} in flight`,
      value: await throughput(call),
      unit: 'calls/s',
    });
  }
  await Promise.all([direct, http, transparent, stdio].map((client) => client.close()));
  await gateway.stop();
  return rows;
}

/** Twenty-five configured servers, whose tools are known from an earlier start. */
async function coldStart(dir: string) {
  const servers = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`server${i}`, ['10']]));
  const data = await configure(dir, 'cold', servers);
  const first = await servePml({ data });
  await untilListed(first, 25 * 11);
  await first.stop();
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    const client = await connect(pmlStdio(data), 'legacy');
    await client.listTools();
    times.push(performance.now() - start);
    await client.close();
    await sleep(500);
  }
  return [
    {
      label: 'pml stdio, start to first tools/list, 25 servers',
      value: percentile(times, 0.5),
      unit: 'ms',
      goal: '< 500 ms',
    },
  ];
}

/** A data folder with a configuration of echo servers, each with its arguments. */
async function configure(
  dir: string,
  name: string,
  servers: Record<string, readonly string[]>,
): Promise<string> {
  const data = join(dir, name);
  const entries = Object.entries(servers).map(([server, args]) => [
    server,
    { command: process.execPath, args: [ECHO, ...args] },
  ]);
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, 'pml.json'), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  return data;
}

function pmlStdio(data: string): StdioClientTransport {
  const args = [LAUNCHER, 'stdio', '--data', data, '--config', join(data, 'pml.json')];
  return new StdioClientTransport({ command: process.execPath, args });
}

async function connect(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: 'auto' | 'legacy' = 'legacy',
): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

async function untilListed({ url, token }: ServingPml, tools: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const stats = (await (await fetch(`${url}/api/stats`, { headers })).json()) as { tools: number };
    if (stats.tools >= tools) return;
    await sleep(100);
  }
}

/** Calls each in turn, so that noise of the machine affects all. */
async function interleaved(calls: Record<string, Call>): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(calls).map((label) => [label, []]));
  for (let round = -50; round < ROUNDS; round++) {
    for (const [label, call] of Object.entries(calls)) {
      const start = performance.now();
      await call();
      if (round >= 0) times[label]?.push(performance.now() - start);
    }
  }
  return times;
}

async function throughput(call: Call): Promise<number> {
  const total = 2_000;
  let left = total;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return total / ((performance.now() - start) / 1000);
}
