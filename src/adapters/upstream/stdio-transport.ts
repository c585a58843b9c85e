import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  deserializeMessage,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import spawn from 'cross-spawn';
import { isJsonObject } from '../../core/vocabulary/read-wire.ts';
import type { ChildRegistry } from './process-tree.ts';
import { endTrees, MARKER_VARIABLE, type ProcessTree, waitUntilGone } from './process-tree.ts';

const NEWLINE = 10;

interface MessageLinesOptions {
  /** Bytes of one message; a server that exceeds this is cut off. */
  readonly limit: number;
  onMessage(message: JSONRPCMessage): void;
  /** A line that is not a message: some servers print banners and debug output to stdout. */
  onGarbage(line: string): void;
}

const DEFAULTS = {
  /** Milliseconds a server has to exit once its stdin is closed. */
  politeMs: 500,
  /** Milliseconds its processes have to end after SIGTERM. */
  graceMs: 2_000,
  /** Milliseconds to read output that is still in the pipe when the process has ended. */
  drainMs: 100,
  /** Milliseconds until we are told of the exit of a process that is gone, which a busy machine delays. */
  exitMs: 2_000,
  messageBytes: 64 * 1024 * 1024,
  lines: 200,
  lineLength: 2_000,
};

export interface StdioTransportOptions {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly registry: ChildRegistry;
  readonly stderr: RecentLines;
  onGarbage(line: string): void;
  readonly graceMs?: number;
}

/**
 * Runs a server as a child process in its own group, so that everything it starts ends with it. The SDK's
 * transport ends only the one process.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** With `pid`, how the SDK recognises a child process. */
  readonly stderr = null;
  readonly #options: StdioTransportOptions;
  #child: ChildProcess | null = null;
  #tree: ProcessTree | null = null;
  #ending: Promise<void> | null = null;
  #exit: string | null = null;
  /** Resolves when the process has ended and its last output was read. */
  #drained: Promise<void> = Promise.resolve();
  /**
   * Messages are delivered one after the other: the SDK handles responses at once but notifications a moment
   * later, so a progress notification would arrive after a response in the same chunk.
   */
  #delivery: Promise<void> = Promise.resolve();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the process ended, in words; null while it runs. */
  get exit(): string | null {
    return this.#exit;
  }

  async start(): Promise<void> {
    const { registry, server, command, args, env, cwd } = this.#options;
    const marker = registry.announce(server);
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env, [MARKER_VARIABLE]: marker },
      ...(cwd !== null && { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      registry.gone(marker);
      throw error;
    }
    this.#child = child;
    this.#tree = registry.started(marker, child.pid as number);
    this.#listen(child);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) {
      return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'The server accepts no more messages'));
    }
    if (stdin.writableCorked === 0) {
      // What is sent in one turn goes in one write: each costs more than all that is done for a short call.
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when no process of the server is left. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  #listen(child: ChildProcess): void {
    const lines = new MessageLines({
      limit: DEFAULTS.messageBytes,
      onMessage: (message) => {
        this.#delivery = this.#delivery
          .then(() => this.onmessage?.(message))
          .catch((error) => this.onerror?.(error));
      },
      onGarbage: this.#options.onGarbage,
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      try {
        lines.append(chunk);
      } catch (error) {
        this.#exit ??= `it was ended (${(error as Error).message})`;
        void this.close();
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#options.stderr.append(text));
    // Without a listener an error on any of these would end our own process.
    for (const source of [child, child.stdin, child.stdout, child.stderr]) {
      source?.on('error', (error) => this.onerror?.(error));
    }
    this.#drained = new Promise((resolve) => {
      child.on('exit', (code, signal) => {
        this.#exit ??= `it ended with ${signal === null ? `code ${code}` : `signal ${signal}`}`;
        // Not `close`: a leftover process may hold the pipes open forever.
        void Promise.race([once(child, 'close'), turnsFor(DEFAULTS.drainMs)]).then(() => {
          resolve();
          void this.close();
        });
      });
    });
  }

  async #end(): Promise<void> {
    const tree = this.#tree;
    if (!tree) return;
    const graceMs = this.#options.graceMs ?? DEFAULTS.graceMs;
    this.#child?.stdin?.end();
    if (this.#child?.exitCode === null) await waitUntilGone([tree], Math.min(DEFAULTS.politeMs, graceMs));
    await this.#delivery;
    this.onclose?.();
    await endTrees([tree], graceMs);
    this.#options.registry.gone(tree.marker);
    // Its last words say why it ended; that they cannot be sent to ("write EPIPE") does not.
    await Promise.race([this.#drained, turnsFor(DEFAULTS.exitMs)]);
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy();
  }
}

/**
 * At least this long, and then until what has arrived was read: on a busy machine a timer fires before the exit of a
 * process and its last words, which came earlier, are looked at.
 */
async function turnsFor(ms: number): Promise<void> {
  await sleep(ms);
  await setImmediate();
  await setImmediate();
}

/** Splits a byte stream into JSON-RPC messages, one per line. Throws when a line exceeds the limit. */
export class MessageLines {
  readonly #options: MessageLinesOptions;
  /** Pieces of the incomplete line, joined once: appending would copy them each time. */
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(options: MessageLinesOptions) {
    this.#options = options;
  }

  append(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      this.#finishLine();
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#size += piece.length;
    if (this.#size > this.#options.limit) {
      throw new RangeError(`a message is larger than ${this.#options.limit} bytes`);
    }
    this.#pieces.push(piece);
  }

  #finishLine(): void {
    const line = Buffer.concat(this.#pieces).toString('utf8').trim();
    this.#pieces = [];
    this.#size = 0;
    if (line === '') return;
    let message: JSONRPCMessage;
    try {
      message = readMessage(line);
    } catch {
      this.#options.onGarbage(line);
      return;
    }
    this.#options.onMessage(message);
  }
}

/** Nearly all lines are results, whose few fields are checked here; the SDK's schemas check the others. */
function readMessage(line: string): JSONRPCMessage {
  const message: unknown = JSON.parse(line);
  return isPlainResult(message) ? message : deserializeMessage(line);
}

function isPlainResult(message: unknown): message is JSONRPCMessage {
  if (!isJsonObject(message) || message.jsonrpc !== '2.0' || Object.keys(message).length !== 3) return false;
  const { id, result } = message;
  if (!isJsonObject(result) || !(result._meta === undefined || isJsonObject(result._meta))) return false;
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** The last lines of a stream of any length and content. */
export class RecentLines {
  readonly #limit: number;
  #lines: string[] = [];
  #rest = '';
  #count = 0;

  constructor(limit: number = DEFAULTS.lines) {
    this.#limit = limit;
  }

  append(text: string): void {
    const parts = (this.#rest + text).split(/\r?\n/);
    this.#rest = (parts.pop() ?? '').slice(0, DEFAULTS.lineLength);
    for (const part of parts) this.#lines.push(part.slice(0, DEFAULTS.lineLength));
    this.#count += parts.length;
    if (this.#lines.length > this.#limit) this.#lines = this.#lines.slice(-this.#limit);
  }

  /** Lines completed so far, including those no longer kept. */
  get count(): number {
    return this.#count;
  }

  /** Oldest first, without the first `after` lines; includes an incomplete last line. */
  list(after = 0): readonly string[] {
    const kept = this.#lines.slice(Math.max(0, after - (this.#count - this.#lines.length)));
    return this.#rest === '' ? kept : [...kept, this.#rest].slice(-this.#limit);
  }
}
