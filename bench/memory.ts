/** Memory of all processes of a gateway but the servers: idle, after many runs, and with a large catalogue. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type ServingPml, servePml } from '../test/support/run-pml.ts';
import { memoryOf } from './compare/process-tree.ts';

const ECHO = fileURLToPath(new URL('./support/echo-server.ts', import.meta.url));
const SERVERS = 4;
const TOOLS = 20;
const RUNS = 1_000;
const BIG_CATALOGUE = 5_256;
const MEGABYTE = 2 ** 20;

/** Longer than PML keeps what it may need again: sandbox processes, and a second thread for embeddings. */
const IDLE_MS = 75_000;

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  try {
    return { name: 'memory', rows: [...(await inUse(dir)), ...(await withManyTools(dir))] };
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function inUse(dir: string) {
  const data = await configure(dir, 'few', SERVERS, TOOLS);
  await (await listed(data, SERVERS * (TOOLS + 1))).stop();
  // On a used data folder, like all starts but the first.
  const gateway = await listed(data, SERVERS * (TOOLS + 1));
  await sleep(IDLE_MS);
  const idle = rowsOf(gateway, `idle, ${SERVERS} servers`, 250);
  await runPrograms(gateway);
  const busy = rowsOf(gateway, `just after ${RUNS} runs`);
  await sleep(IDLE_MS);
  const after = rowsOf(gateway, `after ${RUNS} runs, idle again`, 250);
  await gateway.stop();
  return [...idle, ...busy, ...after];
}

async function withManyTools(dir: string) {
  const gateway = await servePml({ data: await configure(dir, 'big', 1, BIG_CATALOGUE - 1) });
  await embedded(gateway, BIG_CATALOGUE);
  await sleep(IDLE_MS);
  const rows = rowsOf(gateway, `idle, ${BIG_CATALOGUE} tools, first start`, 350);
  await gateway.stop();
  return rows;
}

/** Half of them programs, half single calls, of jobs with different intents. */
async function runPrograms({ url, token }: ServingPml): Promise<void> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  for (let i = 0; i < RUNS; i++) {
    const message = `message ${i}`;
    const work =
      i % 2 === 0
        ? { code: `return await mcp.server0.echo({ message: ${JSON.stringify(message)} });` }
        : { tool: 'server1:echo', arguments: { message } };
    const intent = `say ${i % 25} things again`;
    await client.callTool({ name: 'pml_execute', arguments: { ...work, intent } });
  }
  await client.close();
}

function rowsOf({ child }: ServingPml, label: string, goal?: number) {
  const { resident, proportional, processes } = memoryOf(child.pid!, ECHO);
  return [
    {
      label: `${label}: resident`,
      value: resident / MEGABYTE,
      unit: 'MB',
      ...(goal !== undefined && { goal: `<= ${goal} MB` }),
    },
    // Shared pages, such as those of the node binary, counted once.
    { label: '  in proportion to who shares it', value: proportional / MEGABYTE, unit: 'MB' },
    { label: '  processes', value: processes, unit: '' },
  ];
}

async function configure(dir: string, name: string, servers: number, tools: number): Promise<string> {
  const data = join(dir, name);
  const server = { command: process.execPath, args: [ECHO, String(tools)] };
  const entries = Array.from({ length: servers }, (_, i) => [`server${i}`, server]);
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, 'pml.json'), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  return data;
}

/** Waits until the gateway says that it finds so many tools by meaning. */
async function embedded({ url, token }: ServingPml, tools: number): Promise<void> {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const news = await fetch(`${url}/api/events?since=0`, { headers, signal: leaving.signal });
  let text = '';
  for await (const chunk of news.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if ([...text.matchAll(/"by_meaning":(\d+)/g)].some(([, count]) => Number(count) >= tools)) break;
  }
  leaving.abort();
}

/** A gateway that knows all tools. */
async function listed(data: string, tools: number): Promise<ServingPml> {
  const gateway = await servePml({ data });
  const headers = { authorization: `Bearer ${gateway.token}` };
  for (;;) {
    const stats = (await (await fetch(`${gateway.url}/api/stats`, { headers })).json()) as { tools: number };
    if (stats.tools >= tools) return gateway;
    await sleep(100);
  }
}
