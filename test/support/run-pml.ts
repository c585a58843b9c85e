import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const LAUNCHER = fileURLToPath(new URL('../../bin/pml.js', import.meta.url));

/** Variables for bundle and compile cache, which the client's stdio transport, unlike a shell, does not pass on. */
export const PASSED_ON = {
  PML_FROM: process.env.PML_FROM ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
};

/** The machine's own Node, as a user has it: not the one that npm puts first in the path for its scripts. */
export function systemNode(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const outside = folders.filter((folder) => !folder.includes(`node_modules${sep}.bin`));
  return outside.map((folder) => join(folder, 'node')).find((path) => existsSync(path)) ?? process.execPath;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly node?: string;
  /** The launcher of another source tree. */
  readonly launcher?: string;
}

/** Runs `pml` to its end, as a shell does. */
export async function runPml(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = start(args, options);
  const output = collect(child);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output() };
}

export interface RunningPml {
  readonly child: ChildProcess;
  /** First line of stdout, parsed. */
  readonly ready: Record<string, unknown>;
  output(): { stdout: string; stderr: string };
  exited: Promise<number | null>;
}

/** Starts `pml … --json` and waits for its first line; killed when the test ends. */
export async function startPml(args: readonly string[], options: RunOptions = {}): Promise<RunningPml> {
  const child = start([...args, '--json'], options);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    // Until then it may write into a folder that is removed next.
    await ended;
  });
  return await untilReady(child);
}

/** The same, if several tests share the process: the caller ends it. */
export async function launchPml(args: readonly string[], options: RunOptions = {}): Promise<RunningPml> {
  return await untilReady(start([...args, '--json'], options));
}

export interface ServingPml extends RunningPml {
  readonly url: string;
  /** The owner's token. */
  readonly token: string;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
}

interface ServeOptions extends RunOptions {
  readonly data: string;
  /** Written to `pml.json` in the data folder; if absent, the existing file is used. */
  readonly config?: object;
  /** More options for the command. */
  readonly args?: readonly string[];
}

/** `pml serve` on a free port; the caller stops it. */
export async function servePml({ data, config, args = [], ...options }: ServeOptions): Promise<ServingPml> {
  const file = join(data, 'pml.json');
  if (config !== undefined) {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writeFile(file, JSON.stringify(config));
  }
  const own = ['serve', '--port', '0', '--data', data, '--config', file];
  const running = await launchPml([...own, ...args], options);
  return {
    ...running,
    url: String(running.ready.url),
    token: (await readFile(join(data, 'token'), 'utf8')).trim(),
    stop: () => {
      running.child.kill('SIGTERM');
      return running.exited;
    },
  };
}

/** Runs `npx` on the machine's own Node, as a user types it; ended when the test ends. */
export async function startNpx(args: readonly string[], { cwd }: RunOptions = {}): Promise<RunningPml> {
  const PATH = [dirname(systemNode()), process.env.PATH].join(delimiter);
  const child = spawn('npx', ['--no-install', ...args, '--json'], {
    cwd,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  return await untilReady(child);
}

async function untilReady(child: ChildProcess): Promise<RunningPml> {
  const output = collect(child);
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const [line, rest] = output().stdout.split('\n');
      if (rest !== undefined) resolve(JSON.parse(line ?? ''));
    });
    void exited.then((code) =>
      reject(new Error(`pml ended with ${code}: ${output().stderr}${output().stdout}`)),
    );
  });
  return { child, ready, output, exited };
}

function start(args: readonly string[], { env, cwd, node, launcher }: RunOptions): ChildProcess {
  return spawn(node ?? process.execPath, [launcher ?? LAUNCHER, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  return () => ({ stdout, stderr });
}
