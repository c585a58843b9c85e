import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { bearerGuard, startAuthorizationServer } from '../fixtures/servers/authorization-server.ts';
import { startHttpFixture } from '../fixtures/servers/http-server.ts';
import { LAUNCHER, PASSED_ON, runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const BENCH = fileURLToPath(new URL('../fixtures/servers/stdio-server.ts', import.meta.url));

/** A person's home with Cursor in it, and `pml` as they run it there. */
async function person(servers: object) {
  const home = await temporaryDir();
  const file = join(home, '.cursor', 'mcp.json');
  await mkdir(join(home, '.cursor'));
  const text = `${JSON.stringify({ mcpServers: servers }, null, 4)} // mine\n`;
  await writeFile(file, text);
  const options = {
    cwd: home,
    env: { ...PASSED_ON, HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, '.config') },
  };
  return {
    home,
    file,
    text,
    options,
    pml: (...args: string[]) => runPml(args, options),
    json: async (...args: string[]) => JSON.parse((await runPml([...args, '--json'], options)).stdout),
  };
}

async function connect(
  { command, args }: { command: string; args: string[] },
  options: { cwd: string; env: Record<string, string> },
) {
  const client = new Client({ name: 'editor', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, ...options, stderr: 'ignore' }));
  return client;
}

const bench = { command: process.execPath, args: [BENCH] };

test('[INIT-16] the command that init writes starts PML from anywhere, with its servers; undo is exact', async () => {
  const { file, text, options, pml } = await person({ bench });
  expect((await pml('init', '--yes')).code).toBe(0);
  const { mcpServers } = JSON.parse((await readFile(file, 'utf8')).replace('// mine', ''));
  const client = await connect(mcpServers.pml, { ...options, cwd: '/' });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('pml_execute');
  const run = await client.callTool({
    name: 'pml_execute',
    arguments: { tool: 'bench:echo', arguments: { text: 'through PML' } },
  });
  expect(JSON.stringify(run)).toContain('through PML');
  await client.close();

  expect((await pml('init', '--undo', '--yes')).stdout).toContain('byte for byte');
  expect(await readFile(file, 'utf8')).toBe(text);
  expect((await pml('servers', '--json')).stdout).toBe('{"servers":[]}\n');
});

test('[CFG-12] the pml.json of an opened project runs nothing, by hand or through the command that init wrote', async () => {
  const { home, file, options, pml } = await person({ bench });
  await pml('init', '--yes');
  const project = join(home, 'project');
  const proof = join(project, 'it-ran');
  const script = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')`;
  const hostile = { mcpServers: { evil: { command: process.execPath, args: ['-e', script] } } };
  await mkdir(project);
  await writeFile(join(project, 'pml.json'), JSON.stringify(hostile));
  const there = { ...options, cwd: project };

  const refused = await runPml(['stdio'], there);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('pml trust') });
  const { mcpServers } = JSON.parse((await readFile(file, 'utf8')).replace('// mine', ''));
  const client = await connect(mcpServers.pml, there);
  const call = { tool: 'bench:echo', arguments: { text: 'mine' } };
  const run = await client.callTool({ name: 'pml_execute', arguments: call });
  expect(JSON.stringify(run)).toContain('mine');
  await client.close();
  expect(existsSync(proof)).toBe(false);

  expect((await runPml(['trust'], there)).stdout).toContain('evil');
});

test('[RUNS-2] a call that asks waits for a person at a terminal, who sees its exact arguments', async () => {
  const { home, options, pml, json } = await person({});
  await mkdir(join(home, '.pml'));
  const pmlJson = {
    mcpServers: { bench },
    pml: { permissions: { ask: ['bench:echo'], approval_wait_ms: 0 } },
  };
  await writeFile(join(home, '.pml', 'pml.json'), JSON.stringify(pmlJson));
  const client = await connect({ command: process.execPath, args: [LAUNCHER, 'stdio'] }, options);
  const call = () =>
    client.callTool({
      name: 'pml_execute',
      arguments: { tool: 'bench:echo', arguments: { text: 'may I?' } },
    });
  const asked = (await call()).structuredContent as { status: string; run_id: string };
  expect(asked.status).toBe('approval_required');

  const [waiting] = (await json('runs', 'ls')).runs;
  expect(waiting).toMatchObject({
    run_id: asked.run_id,
    approvals: [{ node: 'bench:echo', arguments: { text: 'may I?' }, state: 'pending' }],
  });
  expect((await pml('runs', 'approve', asked.run_id)).code).toBe(2);
  const approved = await pml('runs', 'approve', asked.run_id, '--yes');
  expect(approved.stderr).toContain('may I?');
  expect(approved.stdout).toBe(`Run ${asked.run_id} is approved.\n`);
  expect((await call()).structuredContent).toMatchObject({ status: 'success' });
  expect((await json('runs', 'ls')).runs).toEqual([]);
});

test('[SRVCMD-7] a running gateway is seen and controlled from another process, and follows the file', async () => {
  const { home, options, pml, json } = await person({});
  await pml('servers', 'add', 'bench', '--no-start', '--', bench.command, ...bench.args, 'talkative');
  const { ready } = await startPml(['serve', '--port', '0'], options);
  const servers = async () =>
    (await json('servers')).servers.map((server: { name: string; state: string; tools: number }) => [
      server.name,
      server.state,
      server.tools > 0,
    ]);
  await expect.poll(servers).toEqual([['bench', 'ready', true]]);
  await expect.poll(async () => (await pml('servers', 'logs', 'bench')).stdout).toContain('line 500');
  expect((await pml('servers', 'restart', 'bench')).stdout).toContain('Restarted');
  expect((await json('search', 'echo', '--limit', '1')).tools[0]).toMatchObject({ tool_id: 'bench:echo' });

  expect((await pml('servers', 'add', 'second', '--', bench.command, ...bench.args)).stdout).toContain(
    'automatically',
  );
  await expect.poll(servers).toHaveLength(2);
  await pml('servers', 'remove', 'bench');
  await expect.poll(servers).toEqual([['second', 'ready', true]]);

  const token = (await readFile(join(home, '.pml', 'token'), 'utf8')).trim();
  const stats = await fetch(`${ready.url}/api/stats`, { headers: { authorization: `Bearer ${token}` } });
  expect(await stats.json()).toMatchObject({ servers: 1, spared_tokens: expect.any(Number) });
});

test('[SRVCMD-6] a login through a real authorization server is available to the next process', async () => {
  const authority = await startAuthorizationServer();
  const fixture = await startHttpFixture({ guard: bearerGuard(authority) });
  onTestFinished(async () => {
    await fixture.close();
    await authority.close();
  });
  const { options, pml } = await person({});
  await pml('servers', 'add', 'web', '--url', fixture.url);

  const login = spawn(process.execPath, [LAUNCHER, 'servers', 'login', 'web', '--no-browser'], {
    ...options,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void login.kill());
  const closed = once(login, 'close');
  let said = '';
  login.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await expect.poll(() => said).toMatch(/https?:\S+\n\n/);
  const page = await fetch(/https?:\S+/.exec(said)![0]);
  expect(await page.text()).toMatch(/You can close this window/);
  const [code] = await closed;
  expect(code).toBe(0);
  expect(authority.grants).toEqual(['authorization_code']);

  await startPml(['serve', '--port', '0'], options);
  const restarted = await pml('servers', 'restart', 'web');
  expect(restarted.stdout).toContain('Restarted');
});
