import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { sandboxProblem } from '../../src/adapters/upstream/confine.ts';
import type { ServerSandbox, ServerSettings } from '../../src/engine/ports.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { servePml } from '../support/run-pml.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway } from '../support/test-gateway.ts';
import { commandServer, isAlive, type OpenUpstream, openUpstream } from './upstream-support.ts';

const NOSY = join(import.meta.dirname, '../fixtures/servers/nosy-server.ts');
/** Continuous integration may lack bubblewrap, or user namespaces: then servers with a sandbox must not start. */
const problem = await sandboxProblem();

let opened: OpenUpstream | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await opened?.dispose();
});

const nosy = (sandbox: Partial<ServerSandbox> | null, traceFile: string): ServerSettings => ({
  ...commandServer('nosy', [NOSY, traceFile]),
  ...(sandbox && { sandbox: { network: false, read: [NOSY], write: [], ...sandbox } }),
});

/** A file of the user, a port and a socket on this machine, and what a server finds out about them. */
async function machine(sandbox: Partial<ServerSandbox> | null) {
  const folder = await temporaryDir();
  const secret = join(folder, 'secret.txt');
  await writeFile(secret, 'swordfish');
  const traceFile = join(folder, 'started');
  const listen = async (at: string | number) => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(at as string, resolve));
    onTestFinished(() => void server.close());
    return server.address();
  };
  const { port } = (await listen(0)) as { port: number };
  const socket = join(folder, 'socket');
  await listen(socket);
  opened = openUpstream([nosy(sandbox, traceFile)], { probeMs: 500 });
  const { upstream } = opened;
  const attempt = async (tool: string, args: Record<string, string> = {}) => {
    const reply = await upstream.callTool('nosy', tool, args);
    if (!reply.ok) throw new Error(`${reply.error.message} ${reply.error.hint}`);
    const { isError, content } = reply.value;
    return isError ? null : String(content![0]!.text);
  };
  return { ...opened, folder, secret, traceFile, port: String(port), socket, attempt };
}

test('[CAGE-1] a confined server reads nothing of the user and reaches nothing else', async () => {
  if (problem !== null) return await expectRefusal();
  const { attempt, secret, port, socket, folder, dataDir, traceFile } = await machine({});
  expect(await attempt('read', { path: secret })).toBeNull();
  expect(await attempt('run', { script: `cat ${secret}` })).toBeNull();
  expect(await attempt('list', { path: folder })).toBeNull();
  expect(await attempt('list', { path: dataDir })).toBeNull();
  expect((await attempt('list', { path: homedir() })) ?? '').toBe('');
  expect(await attempt('list', { path: '/home' })).toBe('pml');
  expect(await attempt('read', { path: '/etc/shadow' })).toBeNull();
  expect(await attempt('read', { path: `/proc/${process.pid}/environ` })).toBeNull();
  for (const path of ['/usr/mine', '/etc/mine', '/mine', '/home/mine', traceFile])
    expect(await attempt('write', { path }), path).toBeNull();
  expect(await attempt('run', { script: 'mount -t tmpfs none /usr' })).toBeNull();
  expect(await attempt('run', { script: `kill -0 ${process.pid}` })).toBeNull();
  for (const to of [port, socket]) expect(await attempt('connect', { to }), to).toBeNull();
  expect(await attempt('resolve', { name: 'example.com' })).toBeNull();
  await expect(readFile(traceFile)).rejects.toThrow('ENOENT');
});

test('[CAGE-1] without a sandbox the same server does all of that', async () => {
  const { attempt, secret, port, socket } = await machine(null);
  expect(await attempt('read', { path: secret })).toBe('swordfish');
  for (const to of [port, socket]) expect(await attempt('connect', { to })).toBe('connected');
});

test('[CAGE-2] it gets what its settings grant: a home, paths to read and to change', async () => {
  if (problem !== null) return await expectRefusal();
  const { attempt, secret, folder, dataDir, upstream } = await machine({});
  expect(await attempt('home')).toBe('/home/pml /home/pml');
  expect(await attempt('write', { path: '/home/pml/kept' })).toBe('written');
  expect(await readFile(join(dataDir, 'sandboxes/nosy/kept'), 'utf8')).toBe('mine');
  const pid = upstream.servers()[0]!.pid!;
  const shared = join(folder, 'shared');
  await mkdir(shared);
  const sandbox = { network: true, read: [NOSY, secret, dataDir], write: [shared] };
  await upstream.reload([nosy(sandbox, join(shared, 'started'))]);
  expect(isAlive(pid)).toBe(false);
  expect(await attempt('read', { path: '/home/pml/kept' })).toBe('mine');
  expect(await attempt('read', { path: secret })).toBe('swordfish');
  expect(await attempt('write', { path: secret })).toBeNull();
  expect(await attempt('write', { path: join(shared, 'a') })).toBe('written');
  expect(await readFile(join(shared, 'started'), 'utf8')).toBe('started');
  // The tokens of the gateway stay hidden, even where a folder above is shown.
  expect(await attempt('list', { path: dataDir })).toBe('');
});

test('[CAGE-2] with "network" it reaches the network', async () => {
  if (problem !== null) return await expectRefusal();
  const { attempt, port, socket } = await machine({ network: true });
  expect(await attempt('connect', { to: port })).toBe('connected');
  expect(await attempt('connect', { to: socket })).toBeNull();
});

/** The server does not run at all, not even for a moment. */
async function expectRefusal(): Promise<void> {
  const folder = await temporaryDir();
  const traceFile = join(folder, 'started');
  opened = openUpstream([nosy({ write: [folder] }, traceFile)]);
  const reply = await opened.upstream.callTool('nosy', 'home', {});
  expect(reply).toMatchObject({ ok: false, error: { message: expect.stringMatching(/bubblewrap|bwrap/) } });
  await expect(readFile(traceFile)).rejects.toThrow('ENOENT');
}

test('[CAGE-3] a server that cannot be confined is not started, and PML says why', async () => {
  // Where bubblewrap works, it is taken away; where it does not, that is the case as it is.
  if (problem === null) vi.stubEnv('PATH', await temporaryDir());
  await expectRefusal();
  expect(await sandboxProblem()).toMatch(/bubblewrap/);
});

test('[CAGE-3] doctor says whether servers can be confined', async () => {
  const settings = settingsFor([], { servers: [nosy({}, '')] });
  const { gateway } = await testGateway();
  const doctor = async (found: string | null) => {
    const { out } = await runCommand(['doctor', '--json'], {
      dataDir: () => '/data',
      holder: async () => null,
      loadSettings: async () => settings,
      sandboxProblem: async () => found,
      openGateway: async () => openedGateway(gateway),
    });
    return JSON.parse(out).checks.find(({ name }: { name: string }) => name === 'sandbox');
  };
  expect(await doctor(null)).toMatchObject({ status: 'ok', message: 'bubblewrap works; confined: nosy' });
  expect(await doctor('bubblewrap (bwrap) is not installed')).toMatchObject({
    status: 'fail',
    message: 'bubblewrap (bwrap) is not installed; not started: nosy',
    fix: expect.stringContaining('apt install bubblewrap'),
  });
});

test('[CAGE-3] serve says at once that such servers do not start', async () => {
  const data = await temporaryDir();
  const config = { mcpServers: { nosy: { command: process.execPath, args: [NOSY], sandbox: true } } };
  // A folder without bubblewrap, whatever this machine has.
  const pml = await servePml({ data, config, env: { PATH: await temporaryDir() } });
  onTestFinished(async () => void (await pml.stop()));
  expect(pml.ready.notes).toEqual([
    'Servers with "sandbox" do not start (nosy): bubblewrap (bwrap) is not installed.',
  ]);
});
