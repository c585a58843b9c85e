import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { processStart } from '../../src/adapters/store/data-dir-lock.ts';
import { LAUNCHER, PASSED_ON, runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const WORKBENCH = fileURLToPath(new URL('../fixtures/servers/stdio-server.ts', import.meta.url));

/** A data dir with a configuration of its own, as `pml init` leaves it. */
async function dataDir(config: object = {}): Promise<string> {
  const dir = await temporaryDir();
  const mcpServers = {
    bench: { command: process.execPath, args: [WORKBENCH], concurrency: 1_000, timeout: 120_000 },
  };
  await writeFile(join(dir, 'pml.json'), JSON.stringify({ mcpServers, ...config }));
  return dir;
}

async function connectStdio(dir: string, ...options: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'stdio', ...options, '--data', dir],
      cwd: dir,
      env: PASSED_ON,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

async function connectHttp(dir: string, url: string, path = '/mcp'): Promise<Client> {
  const authorization = `Bearer ${(await readFile(join(dir, 'token'), 'utf8')).trim()}`;
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(path, url), { requestInit: { headers: { authorization } } }),
  );
  onTestFinished(() => client.close());
  return client;
}

interface Executed {
  readonly status: string;
  readonly result: { pid?: number; echoed?: unknown };
}

async function execute(client: Client, tool: string, args: object = {}): Promise<Executed> {
  const call = { name: 'pml_execute', arguments: { tool: `bench:${tool}`, arguments: args } };
  // A thousand of them take as long as the machine takes.
  const reply = await client.callTool(call, { timeout: 120_000 });
  return reply.structuredContent as unknown as Executed;
}

/** A zombie that was not collected yet counts as gone. */
function isAlive(pid: number): boolean {
  return processStart(pid) !== null;
}

async function holderPid(dir: string): Promise<number> {
  return (JSON.parse(await readFile(join(dir, 'holder.json'), 'utf8')) as { pid: number }).pid;
}

test('[LIFE-1] three pml stdio started together share one gateway; when it is killed, the others continue', async () => {
  const dir = await dataDir();
  const clients = await Promise.all([connectStdio(dir), connectStdio(dir), connectStdio(dir)]);
  const pids = await Promise.all(
    clients.map(async (client) => (await execute(client, 'process')).result.pid),
  );
  expect(new Set(pids).size).toBe(1);

  const killed = await holderPid(dir);
  process.kill(killed, 'SIGKILL');
  const goOn = async (client: Client) => {
    const reply = await execute(client, 'echo', { text: 'still here' }).catch(() => null);
    return reply?.status ?? 'gone';
  };
  // The killed process's own client is gone with it; the two others carry on.
  await expect
    .poll(async () => (await Promise.all(clients.map(goOn))).filter((s) => s === 'success').length)
    .toBe(2);
  expect(await holderPid(dir)).not.toBe(killed);
});

test('[LIFE-2] after kill -9 of the gateway, the next start ends the processes it left', async () => {
  const dir = await dataDir();
  const first = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  const client = await connectHttp(dir, String(first.ready.url));
  const server = (await execute(client, 'process')).result.pid ?? 0;
  const stubborn = Number((await execute(client, 'spawn')).result);
  expect([isAlive(server), isAlive(stubborn)]).toEqual([true, true]);
  first.child.kill('SIGKILL');
  await first.exited;
  await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  await expect.poll(() => [isAlive(server), isAlive(stubborn)]).toEqual([false, false]);
});

test('[LIFE-3] an invalid edit of the configuration changes nothing but the error shown; once fixed, it takes effect', async () => {
  const dir = await dataDir();
  const running = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  const client = await connectHttp(dir, String(running.ready.url));
  expect((await execute(client, 'echo', { text: 'a' })).status).toBe('success');
  const file = join(dir, 'pml.json');
  const good = await readFile(file, 'utf8');
  await writeFile(file, '{ "mcpServers": { "bench": 7');
  await expect.poll(() => running.output().stderr).toContain('pml.json');
  expect((await execute(client, 'echo', { text: 'b' })).status).toBe('success');

  const { mcpServers } = JSON.parse(good) as { mcpServers: { bench: object } };
  await writeFile(file, JSON.stringify({ mcpServers: { ...mcpServers, second: mcpServers.bench } }));
  const listed = async () => (await runPml(['servers', 'ls', '--json', '--data', dir], { cwd: dir })).stdout;
  await expect.poll(listed).toContain('"second"');
});

test('[LIFE-4] a serve takes the data dir over from a pml stdio, whose client does not notice', async () => {
  const dir = await dataDir();
  const client = await connectStdio(dir);
  expect((await execute(client, 'echo', { text: 'a' })).status).toBe('success');
  const { child } = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  expect(await holderPid(dir)).toBe(child.pid);
  const again = async () => (await execute(client, 'echo', { text: 'b' }).catch(() => null))?.status;
  await expect.poll(again).toBe('success');
});

test('[LIFE-5] a thousand calls in flight are all answered, each with its own', async () => {
  const dir = await dataDir();
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  const client = await connectHttp(dir, String(ready.url));
  const texts = Array.from({ length: 1_000 }, (_, i) => `call ${i}`);
  const answers = await Promise.all(texts.map((text) => execute(client, 'echo', { text })));
  expect(answers.map(({ result }) => result.echoed)).toEqual(texts.map((text) => ({ text })));
}, 120_000);

test('[LIFE-6] a page of another origin, another host or a caller without the token reaches no endpoint', async () => {
  const dir = await dataDir();
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  const { port } = new URL(String(ready.url));
  const authorization = `Bearer ${(await readFile(join(dir, 'token'), 'utf8')).trim()}`;
  const hostile: Record<string, string>[] = [
    { authorization, origin: 'https://evil.example' },
    { authorization, host: `evil.example:${port}` },
    { authorization: 'Bearer guess' },
    {},
  ];
  for (const path of [
    '/mcp',
    '/mcp/servers/bench',
    '/bridge',
    '/api/servers',
    '/api/events',
    '/api/runs/x/approve',
  ]) {
    for (const headers of hostile) {
      const status = await post(Number(port), path, headers);
      expect([401, 403], `${path} with ${JSON.stringify(headers)}`).toContain(status);
    }
  }
});

async function post(port: number, path: string, headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('[LIFE-7] [MCP-47] a run that waits for a person is decided on the command line, and only then continues', async () => {
  const dir = await dataDir({ pml: { permissions: { ask: ['bench:echo'], approval_wait_ms: 200 } } });
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir], { cwd: dir });
  const client = await connectHttp(dir, String(ready.url));
  const asked = (await execute(client, 'echo', { text: 'please' })) as Executed & { run_id: string };
  expect(asked.status).toBe('approval_required');
  const listed = await runPml(['runs', 'ls', '--json', '--data', dir], { cwd: dir });
  expect(listed.stdout).toContain(asked.run_id);
  expect(listed.stdout).toContain('please');
  const approved = await runPml(['runs', 'approve', asked.run_id, '--yes', '--data', dir], { cwd: dir });
  expect(approved.code).toBe(0);
  expect((await execute(client, 'echo', { text: 'please' })).status).toBe('success');
  expect((await execute(client, 'echo', { text: 'please' })).status).toBe('approval_required');
  const native = await connectStdio(dir, '--native', '--meta');
  const names = (await native.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['pml_execute', 'bench__echo']));
  const told = await native.callTool({ name: 'bench__echo', arguments: { text: 'once more' } });
  expect(JSON.stringify(told.content)).toContain('needs approval');
});

test('[LIFE-8] pml stdio ends when its client closes the pipe, and leaves no process and no lock behind', async () => {
  const dir = await dataDir();
  for (const others of [0, 1]) {
    const keeper = others === 1 ? await connectStdio(dir) : null;
    const child = spawn(process.execPath, [LAUNCHER, 'stdio', '--data', dir], {
      cwd: dir,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const answered = new Promise((resolve) => child.stdout.once('data', resolve));
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await answered;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    child.stdin.end();
    expect(await exited).toBe(0);
    expect(existsSync(join(dir, 'holder.json'))).toBe(keeper !== null);
  }
});
