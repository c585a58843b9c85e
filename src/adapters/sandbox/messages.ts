import type { SiteNames } from '../../engine/guest/guest-hooks.ts';
import type {
  ConsoleLine,
  GuestFailure,
  GuestMark,
  GuestProgram,
  SandboxSettings,
} from '../../engine/ports.ts';

const DEFAULTS = {
  /** A buffer this full, or this old in milliseconds, is handed on: a killed child takes its buffer along. */
  fullAt: 64,
  staleAfter: 20,
};

/** Heads of the packets to the child; what they carry as texts is said beside. */
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

/** A capability may be entered; a refusal is a reply. */
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
      readonly server: string;
      readonly tool: string;
    }
  /** Text: arguments. */
  | { readonly type: 'enter'; readonly frame: number; readonly call: number; readonly slug: string }
  /** Text: the value, unless it failed. */
  | { readonly type: 'leave'; readonly frame: number; readonly at: number; readonly failure?: GuestFailure }
  | { readonly type: 'marks'; readonly marks: readonly WireMark[] }
  /** Text: what was printed. */
  | { readonly type: 'print'; readonly level: ConsoleLine['level'] }
  /** Text: the value, unless it failed. */
  | {
      readonly type: 'end';
      readonly failure?: GuestFailure;
      readonly cpuMs: number;
      readonly truncated: boolean;
    };

/**
 * A mark and its frame. Its moments are milliseconds of the machine's monotonic clock, which all its
 * processes share.
 */
export type WireMark = readonly [frame: number, mark: GuestMark];

/** What the watching thread of a child says, as one line of its stderr, before it ends its process. */
export interface LastWords {
  readonly limit: 'memory' | 'cpu';
  readonly cpuMs: number;
}

/** The machine's monotonic clock, in milliseconds. */
export const monotonicNow = () => Number(process.hrtime.bigint()) / 1e6;

/** What a child tells, in the host's time. */
interface MarkReader {
  toHost(moment: number): number;
  /** Null for a mark of no program, or of no such site of it. */
  read(mark: WireMark, frames: ReadonlyMap<number, GuestProgram>): GuestMark | null;
}

/**
 * A child's clock is this machine's own, but its word is not trusted: no moment lies before the run or
 * after now.
 */
export function createMarkReader(): MarkReader {
  // The host's clock is read second: a child's moment is never put before the host's own moments it followed.
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

/** Keeps marks until there is something to send anyway. */
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
