import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { takePulse } from '../support/pulse.ts';
import { LAUNCHER, type RunningPml, servePml } from '../support/run-pml.ts';
import type { Address } from './hostile-requests.ts';

const PARROT = fileURLToPath(new URL('../fixtures/servers/parrot-server.ts', import.meta.url));

const DEFAULTS = {
  /** What is not answered by then never will be, on the slowest machine. */
  answerMs: 60_000,
  /** A stream is left when nothing came for so long, and so is a request that is not one. */
  quietMs: 300,
  /** Far beyond what an orderly end takes, on the slowest machine. */
  endMs: 60_000,
  /** Bytes of an answer that are kept for display. */
  shown: 400,
};

const parrot = { command: process.execPath, args: [PARROT], timeout: 1_000 };
/** Limits so small that what has no end has one soon. */
const CONFIG = {
  mcpServers: { parrot, shifty: parrot },
  pml: {
    permissions: { default: 'allow', approval_wait_ms: 0 },
    sandbox: { memory_mb: 32, cpu_ms: 200, wall_ms: 2_000, calls_total: 50, console_bytes: 5_000 },
  },
};

const HELLO = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
};

export interface Reply {
  /** Null when the connection ended, or was left, without one. */
  readonly status: number | null;
  readonly text: string;
}

export interface FuzzTarget {
  readonly address: Address;
  /** To a socket; `isSound` when the bytes are a whole request, which then has to be answered. */
  overHttp(bytes: Buffer, isSound: boolean): Promise<Reply>;
  /** To `pml stdio`; gives when what comes after it is answered. */
  overStdio(bytes: Buffer): Promise<void>;
  /** To `pml trace import`. */
  asTraces(bytes: Buffer): Promise<void>;
  /** As the configuration, until the sound one is back. */
  asConfig(text: string): Promise<void>;
  /** What is wrong: nothing, as far as can be seen from outside. */
  examine(): Promise<string[]>;
  /** The longest that `/healthz` took, in milliseconds of the gateway's main thread. */
  longestPulse(): number;
  /** In megabytes; null where the system does not report it. */
  memory(): Promise<number | null>;
  /** By SIGTERM; gives what was wrong about it. */
  end(): Promise<string[]>;
}

/** A real gateway on the data in `dir`, with everything that can be spoken to. */
export async function startTarget(dir: string): Promise<FuzzTarget> {
  const config = join(dir, 'pml.json');
  const pml = await servePml({ data: dir, config: CONFIG });
  const { token } = pml;
  const url = new URL(pml.url);
  const { pid } = JSON.parse(await readFile(join(dir, 'holder.json'), 'utf8'));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (path: string, body: unknown, accept = 'application/json') =>
    await fetch(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, accept },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEFAULTS.answerMs),
    });
  const hello = await ask('/mcp', HELLO, 'application/json, text/event-stream');
  await hello.text();
  const address = { host: url.host, token, session: hello.headers.get('mcp-session-id') ?? '' };
  const stdio = await openStdio(dir);
  const pulse = takePulse(url.origin, pid);
  const told = tellsTrouble(pml);

  const works = async (): Promise<boolean> => {
    const reply = await ask('/api/execute', { code: 'return (await mcp.parrot.reply({})) + (1 + 1)' });
    return (await reply.text()).includes('fine2');
  };
  const until = async (what: () => Promise<boolean>): Promise<boolean> => {
    const last = performance.now() + DEFAULTS.answerMs;
    while (performance.now() < last) {
      if (await what().catch(() => false)) return true;
      await sleep(50);
    }
    return false;
  };
  await until(works);

  return {
    address,
    overHttp: (bytes, isSound) => speak(Number(url.port), bytes, isSound),
    overStdio: stdio.say,
    asTraces: (bytes) => importTraces(dir, bytes),
    async asConfig(text) {
      await writeFile(config, text);
      await sleep(DEFAULTS.quietMs);
      await writeFile(config, JSON.stringify(CONFIG));
    },
    async examine() {
      const problems = told();
      if (pml.child.exitCode !== null) return [`the gateway ended with ${pml.child.exitCode}`, ...problems];
      if (stdio.child.exitCode !== null) problems.push(`pml stdio ended with ${stdio.child.exitCode}`);
      if (!(await until(works))) problems.push('a sound program is no longer answered');
      const isIdle = async () =>
        ((await (await ask('/api/live', undefined)).json()) as { runs: [] }).runs.length === 0;
      if (!(await until(isIdle))) problems.push('a run never ends');
      return problems;
    },
    longestPulse: pulse.longest,
    async memory() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
      return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1024);
    },
    async end() {
      await pulse.end();
      stdio.child.kill('SIGTERM');
      await stdio.ended;
      const code = await Promise.race([pml.stop(), sleep(DEFAULTS.endMs, 'nothing', { ref: false })]);
      pml.child.kill('SIGKILL');
      return [...told(), ...(code === 0 ? [] : [`after SIGTERM came ${code} in ${DEFAULTS.endMs} ms`])];
    },
  };
}

const TROUBLE = /"level":"(?:error|fatal)"|unhandled|uncaught|out of memory|^\s+at .*node:internal/i;
/** A configuration that is refused; a failed request is seen by its answer. */
const ITS_OWN = /pml\.json|A request failed/;

/** What the log says that a sound gateway does not, each line once. */
function tellsTrouble({ output }: RunningPml): () => string[] {
  let read = 0;
  return () => {
    const { stderr } = output();
    const fresh = stderr.slice(read);
    read = stderr.length;
    return fresh
      .split('\n')
      .filter((line) => TROUBLE.test(line) && !ITS_OWN.test(line))
      .map((line) => `the log says: ${line.slice(0, DEFAULTS.shown)}`);
  };
}

async function speak(port: number, bytes: Buffer, isSound: boolean): Promise<Reply> {
  const socket = connect(port, '127.0.0.1');
  return await new Promise((resolve) => {
    let text = '';
    let timer: NodeJS.Timeout;
    const leave = () => {
      clearTimeout(timer);
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? null : Number(status), text: text.slice(0, DEFAULTS.shown) });
    };
    const wait = () => {
      clearTimeout(timer);
      const isStream = /content-type: text\/event-stream/i.test(text.slice(0, 2_000));
      timer = setTimeout(leave, isSound && !isStream ? DEFAULTS.answerMs : DEFAULTS.quietMs);
    };
    socket.on('data', (chunk) => {
      if (text.length < 2_000) text += chunk.toString('latin1');
      wait();
    });
    socket.on('close', leave);
    // The gateway may close before it has read all.
    socket.on('error', () => {});
    socket.on('connect', () => socket.write(bytes));
    wait();
  });
}

async function openStdio(
  dir: string,
): Promise<{ child: ChildProcess; say(bytes: Buffer): Promise<void>; ended: Promise<void> }> {
  const child = spawn(process.execPath, [LAUNCHER, 'stdio', '--data', dir], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    for (const [id, answered] of waiting) if (line.includes(id)) answered();
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const say = async (bytes: Buffer) => {
    const id = randomUUID();
    const answered = new Promise<void>((resolve) => waiting.set(id, resolve));
    const ping = `\n${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;
    child.stdin.write(Buffer.concat([bytes, Buffer.from(ping)]));
    const last = sleep(DEFAULTS.answerMs, 'late', { ref: false });
    const outcome = await Promise.race([answered, ended.then(() => 'ended'), last]);
    waiting.delete(id);
    if (outcome === 'late') throw new Error('pml stdio answers nothing after it');
    if (outcome === 'ended') throw new Error('pml stdio ended');
  };
  await say(Buffer.from(JSON.stringify(HELLO)));
  return { child, say, ended };
}

/** It may refuse every line, in words. */
async function importTraces(dir: string, bytes: Buffer): Promise<void> {
  const child = spawn(process.execPath, [LAUNCHER, 'trace', 'import', '-', '--data', dir], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(bytes);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if ((code !== 0 && code !== 1) || /^\s+at .*:\d+:\d+\)?$/m.test(said)) {
    throw new Error(`pml trace import ended with ${code}: ${said.slice(0, DEFAULTS.shown)}`);
  }
}
