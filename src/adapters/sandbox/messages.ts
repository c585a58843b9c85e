import type { SiteNames } from '../../engine/guest/guest-hooks.ts';
import type { ConsoleLine, GuestFailure, GuestMark, SandboxSettings } from '../../engine/ports.ts';

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
  /** Text: the value, when there is no failure. */
  | { readonly type: 'leave'; readonly frame: number; readonly at: number; readonly failure?: GuestFailure }
  | { readonly type: 'marks'; readonly marks: readonly WireMark[] }
  /** Text: what was printed. */
  | { readonly type: 'print'; readonly level: ConsoleLine['level'] }
  /** Text: the value, when there is no failure. */
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
