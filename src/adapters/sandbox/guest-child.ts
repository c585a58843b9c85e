import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChildMessage, HostMessage } from './messages.ts';
import { readMessage } from './read-message.ts';
import { encodePacket, PacketReader } from './wire.ts';

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
  const own = ['.', '../../engine/guest/', '../../core/numeric/'];
  const resolve = createRequire(isolatedVm).resolve;
  const packages = [isolatedVm, resolve('node-gyp-build')];
  return [
    ...own.map((path) => `${fileURLToPath(new URL(path, import.meta.url))}*`),
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

/** Whoever has the child's ear; `onBreach` when the child says what no child should. */
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
