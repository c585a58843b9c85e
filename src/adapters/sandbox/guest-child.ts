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
import { encodePacket, PacketReader } from './wire.ts';

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
  z.strictObject({ type: z.literal('tool'), frame: number, call: number, server: name, tool: name }),
  z.strictObject({ type: z.literal('enter'), frame: number, call: number, slug: name }),
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
  /** What the child says it had computed; null when it said nothing. */
  readonly cpuMs: number | null;
}

const DEFAULTS = {
  /** Bytes of a child's stderr that are kept. */
  lastWords: 4_096,
  /** Bytes of a message before its run is known. */
  maxBytes: 64 * 1024,
  /** Steps below the priority of the host, and those of a program that takes long. */
  giveWayBy: 5,
  giveMoreWayBy: 12,
  lowestPriority: 19,
};

const ENTRY = fileURLToPath(new URL('./child/guest-worker.ts', import.meta.url));

/** Everything the child reads from disk: its own code, what that shares with the engine, and the engine of isolates. */
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
    // node-gyp-build looks here for the kind of C library.
    '/etc/alpine-release',
  ];
}

/** Where cores are short, programs that never rest must not take them from the host. */
function giveWay(thread: number, by: number): void {
  try {
    if (thread > 0) setPriority(thread, Math.min(DEFAULTS.lowestPriority, getPriority() + by));
  } catch {
    // It is gone already, or the system has no such thing.
  }
}

/** On Linux each thread has a priority of its own, which those it starts begin with. */
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

/** A process that runs guests, seen from the host. */
export class GuestChild {
  readonly pid: number;
  /** How many it has run. */
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
      // A program's garbage is its own to pay for, and one core's.
      '--single-threaded-gc',
      // That addons may do anything is known: it is why the process has nothing to lose.
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

  /** The longest message that is taken from it, in bytes. */
  set maxBytes(value: number) {
    this.#reader.maxBytes = value;
  }

  send(message: HostMessage, ...texts: string[]): void {
    this.#process.stdin!.write(encodePacket(message, texts));
  }

  /** Gives way to other programs, too, and for good: only a privileged process could take it back. */
  slowDown(): void {
    this.isSlow = true;
    for (const thread of threadsOf(this.pid)) giveWay(thread, DEFAULTS.giveMoreWayBy);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Whether it keeps the host's process from ending. */
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
        else this.listener?.onBreach('a message of no known form');
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

/** Why a child ended in the midst of a run: the limit that explains it, if one does. */
export function explainExit({ how, lastWords }: ChildExit, limits: SandboxSettings): ExitCause {
  const words = readWords(lastWords);
  if (words) return { failure: limitFailure(words.limit, limits), cpuMs: words.cpuMs };
  // What V8 and isolated-vm write before they abort.
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

/** A child runs what nobody trusts, so it is not trusted itself: what it says has one of these forms, or it is ended. */
export function readMessage(head: unknown): ChildMessage | null {
  const { success, data } = message.safeParse(head);
  return success ? data : null;
}
