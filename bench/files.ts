/**
 * Number of source files that run for one request: what a stranger has to read to follow it. Measured in the gateway's
 * process by precise coverage, from the request to its answer: files that run every time, except those that also run
 * in an idle gateway. Sandboxes are separate processes and workers are separate threads; neither is counted.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SOURCES = new URL('../src/', import.meta.url).href;
const COUNTER = new URL('support/count-files.ts', import.meta.url).href;
const PARROT = fileURLToPath(new URL('../test/fixtures/servers/parrot-server.ts', import.meta.url));

const DEFAULTS = {
  /** Repetitions before counting, so that caches are warm and lazy modules loaded. */
  warmUp: 3,
  /**
   * As short as a request: the timer that watches the event loop ticks several times in it, and is left out; one that
   * ticks every few seconds leaves nothing out.
   */
  idleMs: 300,
  /** Number of measurements; files that ran every time count. */
  looks: 3,
  /** Milliseconds after a request, until its background work is done. */
  settleMs: 2_000,
  /** Time limit of one request. */
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
  const args = ['--import', COUNTER, MAIN, 'serve', '--data', dir, '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // Without a listener, Node keeps messages for the first one.
  child.on('message', () => {});
  try {
    const ready = await lineWith(child.stdout!, /^\{.*\}/m);
    const { url } = JSON.parse(ready) as { url: string };
    const token = (await readFile(join(dir, 'token'), 'utf8')).trim();
    const request = await openClient(url, token);
    for (const kind of KINDS) for (let i = 0; i < DEFAULTS.warmUp; i++) await request(kind);
    const idle = await filesOf(child, async () => {
      child.send('begin');
      await sleep(DEFAULTS.idleMs);
      child.send('end');
    });
    const rows = [];
    const below = process.env.PML_BENCH_LIST ? ['idle:', ...[...idle].map((file) => `  ${file}`)] : [];
    for (const kind of KINDS) {
      const ran = await filesOf(child, () => request(kind));
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
    child.kill('SIGTERM');
    await once(child, 'exit');
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The first match in the output of a process. */
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

/** Files that ran every time: timers and warnings may run some files at any time. */
async function filesOf(child: ChildProcess, work: () => Promise<unknown>): Promise<Set<string>> {
  let always: Set<string> | undefined;
  for (let i = 0; i < DEFAULTS.looks; i++) {
    await sleep(DEFAULTS.settleMs);
    const told = once(child, 'message');
    await work();
    const [urls] = (await told) as [string[]];
    const files = urls.filter((url) => url.startsWith(SOURCES)).map((url) => url.slice(SOURCES.length));
    always = always?.intersection(new Set(files)) ?? new Set(files);
  }
  return always ?? new Set();
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
    // Besides the answer, a stream may carry notifications.
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
