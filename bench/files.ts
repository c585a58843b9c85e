/**
 * How many source files run for one request: what a stranger has to read to follow it. Counted in the gateway's process
 * by precise coverage, from the request to its answer: what runs every time, without the files that run in an idle
 * gateway, too. Sandboxes and worker threads are processes and threads of their own and are not counted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SOURCES = new URL('../src/', import.meta.url).href;
const PARROT = fileURLToPath(new URL('../test/fixtures/servers/parrot-server.ts', import.meta.url));

const DEFAULTS = {
  /** Each request so many times before it is counted: caches are warm, lazy modules loaded. */
  warmUp: 3,
  idleMs: 3_000,
  /** Each is looked at so many times; what ran every time counts. */
  looks: 3,
  /** After a request, until what it set going is over. */
  settleMs: 2_000,
  /** For one request. */
  patienceMs: 60_000,
};

interface Kind {
  readonly label: string;
  readonly goal?: string;
  readonly path: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

const tool = (name: string, args: Record<string, unknown>) => ({
  method: 'tools/call',
  params: { name, arguments: args },
});
const CODE = 'const said = await mcp.parrot.reply({ text: "hello" }); return said;';
const KINDS: readonly Kind[] = [
  { label: 'tools/list', path: '/mcp', method: 'tools/list', params: {} },
  { label: 'code', goal: '<= 80', path: '/mcp', ...tool('pml_execute', { code: CODE }) },
  { label: 'search', goal: '<= 30', path: '/mcp', ...tool('pml_search_tools', { query: 'say something' }) },
  { label: 'suggest', goal: '<= 50', path: '/mcp', ...tool('pml_suggest', { intent: 'say hello' }) },
  {
    label: 'transparent call',
    goal: '<= 40',
    path: '/mcp/servers/parrot',
    ...tool('reply', { text: 'hello' }),
  },
];

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-files-'));
  const parrot = { command: process.execPath, args: [PARROT] };
  await writeFile(join(dir, 'pml.json'), JSON.stringify({ mcpServers: { parrot } }));
  const args = ['--inspect=127.0.0.1:0', MAIN, 'serve', '--data', dir, '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let coverage: Coverage | undefined;
  try {
    const [inspector, ready] = await Promise.all([
      lineWith(child.stderr, /ws:\/\/\S+/),
      lineWith(child.stdout, /^\{.*\}/m),
    ]);
    const { url } = JSON.parse(ready) as { url: string };
    const token = (await readFile(join(dir, 'token'), 'utf8')).trim();
    const request = await openClient(url, token);
    for (const kind of KINDS) for (let i = 0; i < DEFAULTS.warmUp; i++) await request(kind);
    coverage = await openCoverage(inspector);
    const idle = await filesOf(coverage, () => sleep(DEFAULTS.idleMs));
    const rows = [];
    const below = process.env.PML_BENCH_LIST ? ['idle:', ...[...idle].map((file) => `  ${file}`)] : [];
    for (const kind of KINDS) {
      const ran = await filesOf(coverage, () => request(kind));
      const files = [...ran.difference(idle)];
      rows.push({
        label: kind.label,
        value: files.length,
        unit: 'files',
        ...(kind.goal !== undefined && { goal: kind.goal }),
      });
      if (process.env.PML_BENCH_LIST)
        below.push(`${kind.label}:`, ...files.sort().map((file) => `  ${file}`));
    }
    return { name: 'files', rows, below: below.join('\n') };
  } finally {
    // A process with a debugger attached does not end.
    coverage?.close();
    child.kill('SIGTERM');
    await once(child, 'exit');
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What matches in the output of a process, once it does. */
async function lineWith(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = '';
  return await new Promise((resolve, reject) => {
    stream.on('data', (chunk) => {
      text += chunk;
      const [found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    stream.on('end', () => reject(new Error(`The gateway ended before it said ${pattern}: ${text}`)));
  });
}

interface Coverage {
  /** Sources of which anything ran since the last time. */
  take(): Promise<string[]>;
  close(): void;
}

/** What runs each time that something is done: timers and warnings run some files at any time. */
async function filesOf(coverage: Coverage, work: () => Promise<unknown>): Promise<Set<string>> {
  let always: Set<string> | undefined;
  for (let i = 0; i < DEFAULTS.looks; i++) {
    await sleep(DEFAULTS.settleMs);
    await coverage.take();
    await work();
    const files = new Set(await coverage.take());
    always = always?.intersection(files) ?? files;
  }
  return always ?? new Set();
}

async function openCoverage(url: string): Promise<Coverage> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let id = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply.result);
  });
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<unknown> => {
    const own = ++id;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(own, resolve);
    socket.send(JSON.stringify({ id: own, method, params }));
    return await promise.finally(() => waiting.delete(own));
  };
  await ask('Profiler.enable');
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = (await ask('Profiler.takePreciseCoverage')) as {
        result: { url: string; functions: { ranges: { count: number }[] }[] }[];
      };
      return result
        .filter(({ url: file }) => file.startsWith(SOURCES))
        .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
        .map(({ url: file }) => file.slice(SOURCES.length));
    },
    close: () => socket.close(),
  };
}

/** An MCP client with a session at each endpoint. */
async function openClient(url: string, token: string): Promise<(kind: Kind) => Promise<void>> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const sessions = new Map<string, string>();
  let id = 0;
  const post = async (path: string, method: string, params: Record<string, unknown>) => {
    const session = sessions.get(path);
    const own = ++id;
    const body = JSON.stringify({ jsonrpc: '2.0', id: own, method, params });
    const more = session === undefined ? {} : { 'mcp-session-id': session };
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body,
      signal: AbortSignal.timeout(DEFAULTS.patienceMs),
    });
    const text = await reply.text();
    // Beside the answer a stream may carry notifications.
    const answer = [...text.matchAll(/^(?:data: )?(\{.*\})$/gm)]
      .map(([, message]) => JSON.parse(message!) as { id?: number; result?: { isError?: boolean } })
      .find((message) => message.id === own);
    const result = answer?.result;
    if (!reply.ok || !result || result.isError) throw new Error(`${method} failed: ${text}`);
    return reply.headers.get('mcp-session-id');
  };
  const clientInfo = { name: 'bench', version: '1' };
  for (const path of new Set(KINDS.map((kind) => kind.path))) {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const session = await post(path, 'initialize', params);
    if (session) sessions.set(path, session);
  }
  return async ({ path, method, params }) => void (await post(path, method, params));
}
