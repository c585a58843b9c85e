import { readSync, writeSync } from 'node:fs';
import type { SiteNames } from '../../engine/guest/guest-hooks.ts';
import type {
  ConsoleLine,
  GuestFailure,
  GuestMark,
  GuestProgram,
  SandboxSettings,
} from '../../engine/ports.ts';

const DEFAULTS = {
  /** Marks, or milliseconds, after which the buffer is sent: a killed child loses its buffer. */
  fullAt: 64,
  staleAfter: 20,
  /** Bytes per read of the child. */
  chunk: 64 * 1024,
  /** Only a sanity limit: the child trusts the host. */
  maxBytes: 2 ** 31,
};

/** Heads of the packets to the child. A comment names the texts that follow each head. */
export type HostMessage = StartMessage | ReplyMessage | EntryMessage | { readonly type: 'stop' };

/** Texts: script, arguments, dependencies. */
interface ProgramHead {
  readonly name: string;
  readonly sites: SiteNames;
  /** The guest's clock. */
  readonly at: number;
}

export interface StartMessage extends ProgramHead {
  readonly type: 'start';
  readonly seed: string;
  readonly limits: SandboxSettings;
}

/** Text: the JSON of the value, or of a `GuestCallError`. */
export interface ReplyMessage {
  readonly type: 'reply';
  readonly call: number;
  readonly ok: boolean;
  readonly at: number;
}

/** Permission to enter a capability; a refusal is a reply. */
export interface EntryMessage extends ProgramHead {
  readonly type: 'entry';
  readonly call: number;
  readonly frame: number;
}

/** Heads of the packets from the child. */
export type ChildMessage =
  | { readonly type: 'ready' }
  /** Text: arguments. */
  | {
      readonly type: 'tool';
      readonly frame: number;
      readonly call: number;
      /** When the program made the call, on the clock of marks: it may have waited for a slot. */
      readonly at: number;
      readonly server: string;
      readonly tool: string;
    }
  /** Text: arguments. */
  | {
      readonly type: 'enter';
      readonly frame: number;
      readonly call: number;
      readonly at: number;
      readonly slug: string;
    }
  /** Text: the value, unless it failed. */
  | { readonly type: 'leave'; readonly frame: number; readonly at: number; readonly failure?: GuestFailure }
  | { readonly type: 'marks'; readonly marks: readonly WireMark[] }
  /** Text: the console output. */
  | { readonly type: 'print'; readonly level: ConsoleLine['level'] }
  /** Text: the value, unless it failed. */
  | {
      readonly type: 'end';
      readonly failure?: GuestFailure;
      readonly cpuMs: number;
      readonly truncated: boolean;
    };

/**
 * A mark and its frame. Times are milliseconds of the machine's monotonic clock, which all processes share.
 */
export type WireMark = readonly [frame: number, mark: GuestMark];

/** What a child's watching thread writes to stderr, as one line, before it kills the process. */
export interface LastWords {
  readonly limit: 'memory' | 'cpu';
  readonly cpuMs: number;
}

/** The machine's monotonic clock, in milliseconds. */
export const monotonicNow = () => Number(process.hrtime.bigint()) / 1e6;

/** Converts a child's times to the host's clock. */
interface MarkReader {
  toHost(moment: number): number;
  /** Null for a mark of an unknown program or call site. */
  read(mark: WireMark, frames: ReadonlyMap<number, GuestProgram>): GuestMark | null;
}

/** The child uses the same clock but is untrusted: times are clamped between the run's start and now. */
export function createMarkReader(): MarkReader {
  // The host's clock is read second, so a child's time never precedes the host's times that came before it.
  const monotonic = monotonicNow();
  const begin = performance.now();
  const toHost = (moment: number) =>
    Math.min(Math.max(begin + (moment - monotonic), begin), performance.now());
  return {
    toHost,
    read([frame, mark], frames) {
      if (frames.get(frame)?.sites[mark.site]?.kind !== mark.kind) return null;
      if (mark.kind === 'decision') return { ...mark, at: toHost(mark.at) };
      const startedAt = toHost(mark.startedAt);
      return { ...mark, startedAt, endedAt: Math.max(startedAt, toHost(mark.endedAt)) };
    },
  };
}

/** Buffers marks until another message is sent. */
export class MarkBuffer {
  readonly #send: (marks: readonly WireMark[]) => void;
  #marks: WireMark[] = [];
  #oldest = 0;

  constructor(send: (marks: readonly WireMark[]) => void) {
    this.#send = send;
  }

  add(frame: number, mark: GuestMark): void {
    const now = mark.kind === 'operation' ? mark.endedAt : mark.at;
    if (this.#marks.length === 0) this.#oldest = now;
    this.#marks.push([frame, mark]);
    if (this.#marks.length >= DEFAULTS.fullAt || now - this.#oldest > DEFAULTS.staleAfter) this.flush();
  }

  flush(): void {
    if (this.#marks.length === 0) return;
    this.#send(this.#marks);
    this.#marks = [];
  }
}

/**
 * Messages between host and child: a small JSON head, followed by texts that are not escaped again (scripts,
 * arguments, results). In bytes, little endian:
 *
 *   u32 length of the rest | u32 length of the head | u32 number of texts | u32 length of each text | head | texts
 */
export interface Packet {
  readonly head: unknown;
  readonly texts: readonly string[];
}

const WORD = 4;

export function encodePacket(head: unknown, texts: readonly string[] = []): Buffer {
  const headText = JSON.stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bytes = sizes.reduce((sum, size) => sum + size, WORD * (3 + sizes.length) + headBytes);
  const packet = Buffer.allocUnsafe(bytes);
  let at = packet.writeUInt32LE(bytes - WORD, 0);
  at = packet.writeUInt32LE(headBytes, at);
  at = packet.writeUInt32LE(sizes.length, at);
  for (const size of sizes) at = packet.writeUInt32LE(size, at);
  at += packet.write(headText, at);
  for (const text of texts) at += packet.write(text, at);
  return packet;
}

/** Assembles packets from the pieces a pipe delivers; throws on malformed or oversized packets. */
export class PacketReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  set maxBytes(value: number) {
    this.#maxBytes = value;
  }

  /** Keeps a reference to `piece`, which the caller must not modify afterwards. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** The next complete packet; undefined until one has arrived. */
  next(): Packet | undefined {
    if (this.#bytes < WORD) return undefined;
    const length = this.#join(WORD).readUInt32LE(0);
    if (length > this.#maxBytes) throw new RangeError(`a message of ${length} bytes`);
    if (this.#bytes < WORD + length) return undefined;
    const whole = this.#join(WORD + length);
    const rest = whole.subarray(WORD + length);
    this.#pieces = rest.length === 0 ? [] : [rest, ...this.#pieces.slice(1)];
    this.#bytes -= WORD + length;
    return decode(whole.subarray(WORD, WORD + length));
  }

  /** Returns the first piece, joined until it has at least `length` bytes. */
  #join(length: number): Buffer {
    const [first] = this.#pieces;
    if (first && first.length >= length) return first;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}

function decode(packet: Buffer): Packet {
  const headBytes = packet.readUInt32LE(0);
  const count = packet.readUInt32LE(WORD);
  let at = WORD * (2 + count);
  const slice = (size: number) => {
    if (at + size > packet.length) throw new RangeError('a message shorter than its declared length');
    const text = packet.toString('utf8', at, at + size);
    at += size;
    return text;
  };
  const head: unknown = JSON.parse(slice(headBytes));
  const texts: string[] = [];
  for (let i = 0; i < count; i++) texts.push(slice(packet.readUInt32LE(WORD * (2 + i))));
  return { head, texts };
}

const STDIN = 0;
const STDOUT = 1;

/**
 * The child's end of the pipes. It blocks: the child has nothing else to do while it waits, and waking from a
 * blocking read is twice as fast as a turn of the event loop.
 */
export interface Pipe {
  /** Returns the next packet; exits the process when the host is gone. */
  receive(): Packet;
  send(message: ChildMessage, ...texts: string[]): void;
}

export function openPipe(): Pipe {
  const reader = new PacketReader(DEFAULTS.maxBytes);
  const chunk = Buffer.allocUnsafeSlow(DEFAULTS.chunk);
  return {
    receive() {
      for (;;) {
        const packet = reader.next();
        if (packet) return packet;
        const bytes = orExit(() => readSync(STDIN, chunk));
        if (bytes === 0) process.exit(0);
        reader.push(Buffer.from(chunk.subarray(0, bytes)));
      }
    },
    send(message, ...texts) {
      const packet = encodePacket(message, texts);
      for (let sent = 0; sent < packet.length; ) {
        sent += orExit(() => writeSync(STDOUT, packet, sent, packet.length - sent));
      }
    },
  };
}

/** Exits if the pipe is broken: the host is gone, so there is nobody to report to. */
function orExit(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN' && code !== 'EINTR') process.exit(0);
    }
  }
}
