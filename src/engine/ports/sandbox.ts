import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { SandboxSettings } from './settings.ts';

/**
 * Runs programs that nobody trusts. A program reaches nothing but the functions it is given; whatever
 * it does wrong, a bomb included, comes back as data.
 */
export interface Sandbox {
  run(program: GuestProgram, host: GuestHost, options: SandboxOptions): Promise<GuestOutcome>;
  /** Ends every run under way and every process. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  readonly limits: SandboxSettings;
  readonly signal?: AbortSignal;
  /** Whose program it is: places are shared fairly among users. */
  readonly user?: string;
  /** Makes the guest's random numbers; the same seed gives the same numbers. */
  readonly seed: string;
  /** The guest's clock, in milliseconds since 1970: it starts here and moves only with `GuestReply.at`. */
  readonly startedAt: number;
}

/** As `prepareProgram` of core/structure makes it. */
export interface GuestProgram {
  /** JavaScript expression: an async function of (mcp, capabilities, args, deps, console, hooks). */
  readonly script: string;
  /** Stands for the file in stack traces. */
  readonly name: string;
  /** What each `hooks.call` and `hooks.test` in the script is, by its number. */
  readonly sites: readonly GuestSite[];
  readonly args: unknown;
  readonly deps: unknown;
}

/** A place in the program that tells of itself when it is run. */
export type GuestSite =
  /** `filter` or `Object.keys`: told only if it is the language's own function. */
  | { readonly kind: 'operation'; readonly operation: string }
  | { readonly kind: 'decision'; readonly node: string };

/**
 * What a guest may ask for. A frame is one running program: 0 is the one `run` was given, every
 * capability invocation is another. The sandbox binds each program's functions to its frame, out of
 * the program's reach, so that parents are right under any parallelism.
 */
export interface GuestHost {
  callTool(frame: number, call: GuestToolCall, hold: WallHold): Promise<GuestReply>;
  /** Answers the program to run in a frame of its own, whose number the host chooses. */
  enterCapability(frame: number, slug: string, args: unknown, madeAt?: number): Promise<GuestEntry>;
  /** `at`: when it ended, before its caller went on; a moment of the host's `performance.now()`. */
  leaveCapability(frame: number, end: GuestEnd, at: number): void;
  /** What the program did by itself; may come late, each mark with its own time. */
  mark(frame: number, mark: GuestMark): void;
}

export interface GuestToolCall {
  readonly server: string;
  readonly tool: string;
  readonly args: unknown;
  /** When the program made the call, on the clock of marks; absent: now. Calls of one moment may be sent one by one. */
  readonly madeAt?: number;
}

/** Stops the run's wall clock, while a person is asked; the answer lets it go on. */
export type WallHold = () => () => void;

export type GuestReply =
  | { readonly ok: true; readonly value: unknown; readonly at: number }
  /** Thrown in the guest as an error with these fields. */
  | { readonly ok: false; readonly error: GuestCallError; readonly at: number };

export interface GuestCallError {
  /** `ToolError` or `CapabilityError`. */
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly errorType?: ErrorType;
}

export type GuestEntry =
  | { readonly ok: true; readonly frame: number; readonly program: GuestProgram; readonly at: number }
  | { readonly ok: false; readonly error: GuestCallError; readonly at: number };

export type GuestEnd =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: GuestFailure };

export type GuestMark =
  | {
      readonly kind: 'operation';
      readonly site: number;
      /** Moments of `performance.now()` of the host process, in milliseconds. */
      readonly startedAt: number;
      readonly endedAt: number;
      readonly success: boolean;
    }
  | { readonly kind: 'decision'; readonly site: number; readonly taken: string; readonly at: number };

export type GuestLimit = 'memory' | 'cpu' | 'wall' | 'calls' | 'arguments' | 'result' | 'console';

/** Why a program gave no value. Text and position come from the guest: they are claims, not facts. */
export type GuestFailure =
  | {
      readonly kind: 'thrown';
      readonly name: string;
      readonly message: string;
      /** In the script; `GuestProgram.name` says of which program. */
      readonly position?: { readonly file: string; readonly line: number; readonly column: number };
    }
  | { readonly kind: 'limit'; readonly limit: GuestLimit; readonly message: string }
  /** It awaits what can never come. */
  | { readonly kind: 'stuck'; readonly message: string }
  /** What it returned is not data: a function, a cycle. */
  | { readonly kind: 'no_data'; readonly message: string }
  | { readonly kind: 'cancelled'; readonly message: string }
  | { readonly kind: 'crashed'; readonly message: string };

export interface ConsoleLine {
  readonly level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  readonly text: string;
}

export type GuestOutcome = GuestEnd & {
  readonly console: readonly ConsoleLine[];
  /** Console text or marks beyond the limit were dropped. */
  readonly truncated: boolean;
  readonly cpuMs: number;
};

/** A failure as a caller of PML sees it. */
export type CodeError = ErrorShape & { readonly line?: number; readonly column?: number };
