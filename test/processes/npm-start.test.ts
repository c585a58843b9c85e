import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { processStart } from '../../src/adapters/store/data-dir-lock.ts';
import { systemNode } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LAUNCHER = join(ROOT, 'bin/pml.js');
const SERVER = join(ROOT, 'test/fixtures/servers/stdio-server.ts');

/** How people start a gateway: with a shell and npm in between, or with the launcher on a Node of their own. */
const STARTS = {
  npm: { command: 'npm', args: ['start', '--'], from: 'src' },
  launcher: { command: systemNode(), args: [LAUNCHER, 'serve'], from: 'dist' },
};

/** A gateway with one server, in a process group of its own as a terminal makes one. */
async function start({ command, args, from }: (typeof STARTS)[keyof typeof STARTS]) {
  const data = await temporaryDir();
  const servers = { bench: { command: process.execPath, args: [SERVER] } };
  await writeFile(join(data, 'pml.json'), JSON.stringify({ mcpServers: servers }));
  const starter = spawn(command, [...args, '--port', '0', '--data', data, '--json'], {
    cwd: ROOT,
    env: { ...process.env, PML_FROM: from },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(starter, 'exit') as Promise<[number | null, string | null]>;
  let said = '';
  for await (const chunk of starter.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (/^\{.*\}$/m.test(said)) break;
  }
  const { url } = JSON.parse(/^\{.*\}$/m.exec(said)![0]) as { url: string };
  const { pid } = JSON.parse(await readFile(join(data, 'holder.json'), 'utf8')) as { pid: number };
  const started = processStart(pid);
  const isAlive = () => started !== null && processStart(pid) === started;
  onTestFinished(() => {
    if (isAlive()) process.kill(pid, 'SIGKILL');
  });
  expect((await fetch(`${url}/healthz`)).ok).toBe(true);
  /** All three only after it stopped in order: killed, it would leave its claim of the data dir behind. */
  const leftBehind = async () => ({
    process: isAlive(),
    claim: existsSync(join(data, 'holder.json')),
    port: await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    ),
  });
  return { starter, exited, leftBehind };
}

const NOTHING = { process: false, claim: false, port: false };

test.for([
  ['npm', 'SIGTERM'],
  ['npm', 'SIGKILL'],
  ['launcher', 'SIGTERM'],
] as const)('[CLI-10] %s ended by %s leaves no gateway behind', async ([name, signal]) => {
  const { starter, leftBehind } = await start(STARTS[name]);
  starter.kill(signal);
  await expect.poll(leftBehind).toEqual(NOTHING);
});

test.for(['npm', 'launcher'] as const)(
  '[CLI-10] %s and everything it started stop in order at Ctrl-C, which each of them receives',
  async (name) => {
    const { starter, exited, leftBehind } = await start(STARTS[name]);
    process.kill(-starter.pid!, 'SIGINT');
    const [code] = await exited;
    // The shell of npm dies of the signal itself, which npm reports; the launcher reports how the gateway ended.
    if (name === 'launcher') expect(code).toBe(0);
    await expect.poll(leftBehind).toEqual(NOTHING);
  },
);
