import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { limitFailure } from '../../engine/guest/guest-failures.ts';
import type { GuestFailure, SandboxSettings } from '../../engine/ports.ts';
import type { ChildMessage, HostMessage, LastWords } from './messages.ts';
import { encodePacket, PacketReader } from './messages.ts';

const number = z.int().nonnegative();

const moment = z.number();

const name = z.string().max(256);

const text = z.string().max(16_384);

const failure = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('thrown'),
    name: text,
    message: text,
    position: z.strictObject({ file: text, line: number, column: number }).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('limit'),
    limit: z.enum(['memory', 'cpu', 'wall', 'calls', 'arguments', 'result', 'console']),
    message: text,
  }),
  z.strictObject({ kind: z.enum(['stuck', 'no_data', 'cancelled', 'crashed']), message: text }),
]);

const mark = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('operation'),
    site: number,
    startedAt: moment,
    endedAt: moment,
    success: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('decision'), site: number, taken: z.string().max(256), at: moment }),
]);

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({
    type: z.literal('tool'),
    frame: number,
    call: number,
    at: z.number(),
    server: name,
    tool: name,
  }),
  z.strictObject({ type: z.literal('enter'), frame: number, call: number, at: z.number(), slug: name }),
  z.strictObject({
    type: z.literal('leave'),
    frame: number,
    at: z.number(),
    failure: failure.exactOptional(),
  }),
  z.strictObject({ type: z.literal('marks'), marks: z.array(z.tuple([number, mark])).max(1_000) }),
  z.strictObject({ type: z.literal('print'), level: z.enum(['log', 'info', 'warn', 'error', 'debug']) }),
  z.strictObject({
    type: z.literal('end'),
    failure: failure.exactOptional(),
    cpuMs: moment,
    truncated: z.boolean(),
  }),
]);

interface ExitCause {
  readonly failure: GuestFailure;
  /** CPU milliseconds the child reported; null if it reported none. */
  readonly cpuMs: number | null;
}

const DEFAULTS = {
  /** Bytes of a child's stderr to keep. */
  lastWords: 4_096,
  /** Longest message, in bytes, before a run sets its own limit. */
  maxBytes: 64 * 1024,
  /**
   * How much nicer than the host a child runs, and how much more once its program takes long (nice levels).
   */
  giveWayBy: 5,
  giveMoreWayBy: 12,
  lowestPriority: 19,
};

const ENTRY = fileURLToPath(new URL('./child/guest-worker.ts', import.meta.url));

/**
 * Everything the child reads from disk: its own code, the code it shares with the engine, and isolated-vm.
 */
function readable(isolatedVm: string): string[] {
  const own = [
    new URL('./', import.meta.url),
    new URL('../../engine/guest/', import.meta.url),
    new URL('../../core/numeric/', import.meta.url),
  ];
  const resolve = createRequire(isolatedVm).resolve;
  const packages = [isolatedVm, resolve('node-gyp-build')];
  return [
    ...own.map((folder) => `${fileURLToPath(folder)}*`),
    ...packages.map((path) => `${dirname(path)}/*`),
    // node-gyp-build reads this file to tell musl from glibc.
    '/etc/alpine-release',
  ];
}

/** Lowers a thread's priority, so that busy programs do not starve the host when cores are few. */
function giveWay(thread: number, by: number): void {
  try {
    if (thread > 0) setPriority(thread, Math.min(DEFAULTS.lowestPriority, getPriority() + by));
  } catch {
    // The thread has ended, or the platform has no priorities.
  }
}

/** On Linux each thread has its own priority, inherited from the thread that started it. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

export interface ChildExit {
  readonly how: string;
  readonly lastWords: string;
}

/** The current listener of a child; `onBreach` is called when the child breaks the protocol. */
export interface ChildListener {
  onMessage(message: ChildMessage, texts: readonly string[]): void;
  onBreach(what: string): void;
  onExit(exit: ChildExit): void;
}

/** The host's side of a process that runs guests. */
export class GuestChild {
  readonly pid: number;
  /** Runs served so far. */
  runs = 0;
  isSlow = false;
  listener: ChildListener | null = null;
  readonly #process: ChildProcess;
  readonly #reader = new PacketReader(DEFAULTS.maxBytes);
  #lastWords = '';

  constructor() {
    const isolatedVm = createRequire(import.meta.url).resolve('isolated-vm');
    const flags = [
      '--permission',
      '--allow-addons',
      '--allow-worker',
      // Garbage collection counts as the program's own CPU time, on one core.
      '--single-threaded-gc',
      // The warning is that addons may do anything; the process has no permissions for that reason.
      '--disable-warning=SecurityWarning',
      ...readable(isolatedVm).map((path) => `--allow-fs-read=${path}`),
    ];
    const { SystemRoot } = process.env;
    this.#process = spawn(process.execPath, [...flags, ENTRY, isolatedVm], {
      env: { TZ: 'UTC', ...(SystemRoot !== undefined && { SystemRoot }) },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.pid = this.#process.pid ?? 0;
    giveWay(this.pid, DEFAULTS.giveWayBy);
    const { stdin, stdout, stderr } = this.#process;
    stdin!.on('error', () => {});
    stdout!.on('data', (piece: Buffer) => this.#read(piece));
    stderr!.on('data', (piece: Buffer) => {
      this.#lastWords = `${this.#lastWords}${piece}`.slice(-DEFAULTS.lastWords);
    });
    this.#process.on('error', (error) => this.#ended(error.message));
    this.#process.on('close', (code, signal) => this.#ended(signal ?? `exit code ${code}`));
  }

  /** The longest message accepted from the child, in bytes. */
  set maxBytes(value: number) {
    this.#reader.maxBytes = value;
  }

  send(message: HostMessage, ...texts: string[]): void {
    this.#process.stdin!.write(encodePacket(message, texts));
  }

  /** Lowers the priority below other programs for good: only a privileged process could raise it again. */
  slowDown(): void {
    this.isSlow = true;
    for (const thread of threadsOf(this.pid)) giveWay(thread, DEFAULTS.giveMoreWayBy);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Whether the child keeps the host's process from exiting. */
  keepHostAlive(isKept: boolean): void {
    const { stdin, stdout, stderr } = this.#process;
    for (const handle of [this.#process, stdin as Socket, stdout as Socket, stderr as Socket]) {
      if (isKept) handle.ref();
      else handle.unref();
    }
  }

  #read(piece: Buffer): void {
    try {
      this.#reader.push(piece);
      for (let packet = this.#reader.next(); packet; packet = this.#reader.next()) {
        const message = readMessage(packet.head);
        if (message) this.listener?.onMessage(message, packet.texts);
        else this.listener?.onBreach('an unknown message');
      }
    } catch (error) {
      this.listener?.onBreach((error as Error).message);
    }
  }

  #ended(how: string): void {
    const { listener } = this;
    this.listener = null;
    listener?.onExit({ how, lastWords: this.#lastWords.trim() });
  }
}

/** Why a child ended during a run: the limit that explains it, if any. */
export function explainExit({ how, lastWords }: ChildExit, limits: SandboxSettings): ExitCause {
  const words = readWords(lastWords);
  if (words) return { failure: limitFailure(words.limit, limits), cpuMs: words.cpuMs };
  // V8 and isolated-vm write this before they abort.
  if (/out[- ]of[- ]memory|heap limit/i.test(lastWords)) {
    return { failure: limitFailure('memory', limits), cpuMs: null };
  }
  const message = `The process the program ran in ended unexpectedly (${how}); the next run gets a new one`;
  return { failure: { kind: 'crashed', message }, cpuMs: null };
}

function readWords(text: string): LastWords | null {
  const last = text.slice(text.lastIndexOf('\n') + 1);
  try {
    const { limit, cpuMs } = JSON.parse(last) as Partial<LastWords>;
    const isKnown = (limit === 'memory' || limit === 'cpu') && typeof cpuMs === 'number';
    return isKnown ? { limit, cpuMs } : null;
  } catch {
    return null;
  }
}

/** Parses a message of the child, which is untrusted; null ends the child. */
export function readMessage(head: unknown): ChildMessage | null {
  const { success, data } = message.safeParse(head);
  return success ? data : null;
}
