import { fork } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { LAUNCHER, servePml } from '../../test/support/run-pml.ts';
import type { Setting, Start } from './contender.ts';
import { addToExecutor } from './executor-setup.ts';
import {
  callEcho,
  connect,
  connectWhenUp,
  end,
  freePort,
  launch,
  listBytes,
  untilListed,
} from './mcp-side.ts';
import { PEERS, peerCommand } from './peers.ts';

const UTCP_HOST = fileURLToPath(new URL('./utcp-host.ts', import.meta.url));

/** No gateway at all: the least that a call costs. */
const direct: Start = async ({ servers }) => {
  const [command, ...args] = Object.values(servers)[0]!;
  const startedAt = performance.now();
  const transport = new StdioClientTransport({ command, args });
  const client = await connect(transport);
  const bytes = await listBytes(client);
  return {
    name: 'no gateway',
    version: '',
    form: 'stdio to one server',
    servers: 1,
    startMs: performance.now() - startedAt,
    pid: 0,
    listBytes: bytes,
    call: () => callEcho(client, 'echo'),
    stop: () => client.close(),
  };
};

/** As `claude mcp add pml -- pml stdio` starts it. */
const overStdio = async (home: string, config: string): Promise<OpenPml> => {
  const args = [LAUNCHER, 'stdio', '--data', home, '--config', config];
  const env = process.env as Record<string, string>;
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
  const client = await connect(transport);
  const child = transport.pid!;
  return { client, pid: child, end: () => client.close() };
};

const overHttp = async (home: string): Promise<OpenPml> => {
  const { child, url, token } = await servePml({ data: home });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = await connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  return { client, pid: child.pid!, end: () => client.close().then(() => end(child)) };
};

interface OpenPml {
  readonly client: Client;
  readonly pid: number;
  end(): Promise<void>;
}

const pml =
  (name: string, transport: string, start: typeof overStdio): Start =>
  async (setting) => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as {
      version: string;
    };
    const home = join(setting.home, transport);
    const config = join(home, 'pml.json');
    await mkdir(home, { mode: 0o700 });
    await writeFile(config, JSON.stringify(mcpServers(setting)));
    const open = async () => {
      const startedAt = performance.now();
      const opened = await start(home, config);
      const bytes = await listBytes(opened.client);
      return { ...opened, bytes, startMs: performance.now() - startedAt };
    };
    // The first start creates the database and lists the servers' tools; users wait for the later ones.
    const first = await open();
    await callMeta(first.client, { tool: 'server0:echo', arguments: { message: 'hello' } });
    await first.end();
    const { client, pid, bytes, startMs, end: stop } = await open();
    return {
      name,
      version,
      form: `${transport}, \`pml_execute\`; every call traced and stored`,
      servers: Object.keys(setting.servers).length,
      startMs,
      pid,
      listBytes: bytes,
      call: () => callMeta(client, { tool: 'server0:echo', arguments: { message: 'hello' } }).then(() => {}),
      code: {
        async callTimes(times) {
          const code = `let n = 0;
          for (let i = 0; i < ${times}; i++) { await mcp.server0.echo({ message: 'hello' }); n++; }
          return n;`;
          return Number(await callMeta(client, { code, timeout_ms: 120_000 }));
        },
      },
      stop,
    };
  };

async function callMeta(client: Client, args: Record<string, unknown>): Promise<unknown> {
  const { structuredContent } = await client.callTool({ name: 'pml_execute', arguments: args });
  const { status, result } = structuredContent as { status: string; result: unknown };
  if (status !== 'success') throw new Error(`pml_execute: ${JSON.stringify(structuredContent)}`);
  return result;
}

const mcpHub: Start = async (setting) => {
  const config = join(setting.home, 'hub.json');
  await writeFile(config, JSON.stringify(mcpServers(setting)));
  const port = await freePort();
  const startedAt = performance.now();
  const child = launch(process.execPath, [
    peerCommand(setting.peers, 'mcp-hub'),
    ...['--port', String(port), '--config', config],
  ]);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const client = await connectWhenUp(() => new SSEClientTransport(url), child);
  await untilListed(client, Object.keys(setting.servers).length);
  return overClient(client, 'server0__echo', {
    name: 'mcp-hub',
    form: 'SSE; lists every tool',
    servers: Object.keys(setting.servers).length,
    startMs: performance.now() - startedAt,
    pid: child.pid!,
    stop: () => end(child),
  });
};

const mcpProxy: Start = async ({ peers, servers }) => {
  const port = await freePort();
  const startedAt = performance.now();
  const child = launch(process.execPath, [
    peerCommand(peers, 'mcp-proxy'),
    ...['--port', String(port), '--host', '127.0.0.1', '--'],
    ...Object.values(servers)[0]!,
  ]);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const client = await connectWhenUp(() => new StreamableHTTPClientTransport(url), child);
  await untilListed(client, 1);
  return overClient(client, 'echo', {
    name: 'mcp-proxy',
    form: 'HTTP to one server',
    servers: 1,
    startMs: performance.now() - startedAt,
    pid: child.pid!,
    stop: () => end(child),
  });
};

const supergateway: Start = async ({ peers, servers }) => {
  const port = await freePort();
  const startedAt = performance.now();
  const child = launch(process.execPath, [
    peerCommand(peers, 'supergateway'),
    ...['--stdio', Object.values(servers)[0]!.join(' '), '--outputTransport', 'streamableHttp', '--stateful'],
    ...['--port', String(port), '--logLevel', 'none'],
  ]);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const client = await connectWhenUp(() => new StreamableHTTPClientTransport(url), child);
  await untilListed(client, 1);
  return overClient(client, 'echo', {
    name: 'supergateway',
    form: 'HTTP to one server',
    servers: 1,
    startMs: performance.now() - startedAt,
    pid: child.pid!,
    stop: () => end(child),
  });
};

const executor: Start = async ({ peers, home, servers }) => {
  const command = peerCommand(peers, 'executor');
  const env = { ...process.env, HOME: home } as Record<string, string>;
  await addToExecutor(command, env, servers);
  const startedAt = performance.now();
  const transport = new StdioClientTransport({ command, args: ['mcp'], env, stderr: 'ignore' });
  const client = await connect(transport);
  const bytes = await listBytes(client);
  const startMs = performance.now() - startedAt;
  const run = async (code: string): Promise<unknown> => {
    const { structuredContent, content } = await client.callTool({ name: 'execute', arguments: { code } });
    const answer = structuredContent as { status?: string; result?: unknown } | undefined;
    if (answer?.status !== 'completed') throw new Error(`execute: ${JSON.stringify(content).slice(0, 500)}`);
    return answer.result;
  };
  const echo = `tools.server0.user.main.echo({ message: 'hello' })`;
  return {
    name: 'executor',
    version: PEERS.executor,
    form: 'stdio, `execute` with code',
    servers: Object.keys(servers).length,
    startMs,
    pid: transport.pid!,
    listBytes: bytes,
    call: () => run(`return await ${echo}`).then(() => {}),
    code: {
      callTimes: async (times) =>
        Number(await run(`let n = 0; for (let i = 0; i < ${times}; i++) { await ${echo}; n++; } return n;`)),
    },
    stop: () => client.close(),
  };
};

/** A library, not a gateway: it still runs in its own process, driven by messages. */
const utcpCodeMode: Start = async ({ peers, servers }) => {
  const startedAt = performance.now();
  const child = fork(UTCP_HOST, [peers, JSON.stringify(servers)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const waiting: ((answer: { ok: boolean; value: unknown }) => void)[] = [];
  child.on('message', (answer: { ok: boolean; value: unknown }) => waiting.shift()?.(answer));
  const answered = () => new Promise<{ ok: boolean; value: unknown }>((resolve) => waiting.push(resolve));
  const ask = async (question: object): Promise<unknown> => {
    child.send(question);
    const { ok, value } = await answered();
    if (!ok) throw new Error(String(value));
    return value;
  };
  await answered();
  return {
    name: '@utcp/code-mode',
    version: PEERS['@utcp/code-mode'],
    form: 'library in the client’s process',
    servers: Object.keys(servers).length,
    startMs: performance.now() - startedAt,
    pid: child.pid!,
    call: () => ask({ call: 'server0' }).then(() => {}),
    code: { callTimes: async (times) => Number(await ask({ callTimes: times })) },
    stop: () => end(child),
  };
};

async function overClient(
  client: Client,
  echo: string,
  {
    stop,
    name,
    ...rest
  }: {
    name: 'mcp-hub' | 'mcp-proxy' | 'supergateway';
    form: string;
    servers: number;
    startMs: number;
    pid: number;
    stop: () => Promise<void>;
  },
) {
  return {
    ...rest,
    name,
    version: PEERS[name],
    listBytes: await listBytes(client),
    call: () => callEcho(client, echo),
    async stop() {
      await client.close();
      await stop();
    },
  };
}

function mcpServers({ servers }: Setting) {
  const entries = Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args }]);
  return { mcpServers: Object.fromEntries(entries) };
}

export const CONTENDERS: Readonly<Record<string, Start>> = {
  direct,
  pml: pml('PML', 'stdio', overStdio),
  'pml-http': pml('PML over HTTP', 'HTTP', overHttp),
  'mcp-hub': mcpHub,
  'mcp-proxy': mcpProxy,
  supergateway,
  executor,
  utcp: utcpCodeMode,
};
