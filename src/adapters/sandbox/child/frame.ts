import { limitFailure, positionIn } from '../../../engine/guest/guest-failures.ts';
import type { ConsoleBudget } from '../../../engine/guest/host-side.ts';
import { frameRandom } from '../../../engine/guest/host-side.ts';
import type { MarkRecorder } from '../../../engine/guest/mark-recorder.ts';
import type { GuestFailure, SandboxSettings } from '../../../engine/ports.ts';
import type { MarkBuffer } from '../messages.ts';
import type { RealmNative } from './install-guest.ts';
import type { Realm } from './isolate.ts';
import type { Pipe } from './pipe.ts';

const DEFAULTS = {
  /** Random numbers fetched from the host per request. */
  randoms: 128,
  /** Characters of a stack trace that are searched for the program's own lines. */
  maxStack: 8_192,
  /** Characters of a program's error text. */
  maxText: 2_100,
};

export type FrameEnd =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly failure: GuestFailure };

/** One running program. */
export interface Frame {
  readonly number: number;
  readonly name: string;
  readonly realm: Realm;
  /** The program and call id that started this one; null for the run's main program. */
  readonly caller: { readonly frame: Frame; readonly id: number } | null;
  /** Calls without an answer yet. */
  pending: number;
  clock: number;
  end: FrameEnd | null;
}

/** State shared by all programs of a run. */
export interface RunParts {
  readonly limits: SandboxSettings;
  readonly seed: string;
  readonly pipe: Pipe;
  readonly recorder: MarkRecorder;
  readonly marks: MarkBuffer;
  readonly console: ConsoleBudget;
  /** Sends a call to the host once a slot is free. Returns the reason if the call is refused. */
  readonly call: (frame: Frame, id: number, target: CallTarget, args: string | null) => string | undefined;
  /** Ends the whole run. */
  readonly condemn: (failure: GuestFailure) => void;
}

export type CallTarget =
  | { readonly type: 'tool'; readonly server: string; readonly tool: string }
  | { readonly type: 'enter'; readonly slug: string };

/** The host functions of one program. They are bound to its frame, which the program cannot reach. */
export function frameNatives(run: RunParts, frame: Frame): RealmNative {
  const { limits, pipe, marks, console } = run;
  const random = frameRandom(run.seed, frame.number);
  const end = (outcome: FrameEnd) => {
    frame.end ??= outcome;
  };
  const fail = (failure: GuestFailure) => end({ ok: false, failure });
  return {
    ...run.recorder.frame(frame.number),
    callTool: (id, server, tool, args) => run.call(frame, id, { type: 'tool', server, tool }, args),
    callCapability: (id, slug, args) => run.call(frame, id, { type: 'enter', slug }, args),
    print(level, text) {
      const kept = console.take(text);
      marks.flush();
      if (kept !== null) pipe.send({ type: 'print', level }, kept);
      return !console.isFull;
    },
    succeed(text) {
      if (Buffer.byteLength(text) <= limits.resultBytes) end({ ok: true, text });
      else fail(limitFailure('result', limits));
    },
    fail(kind, name, message, stack) {
      if (kind === 'too_large') fail(limitFailure('result', limits));
      else if (kind === 'no_data') fail({ kind, message: cut(message) });
      else if (isOutOfBuffers(name, message)) run.condemn(limitFailure('memory', limits));
      else fail(thrown(name, message, stack, frame.name));
    },
    randoms: () => Array.from({ length: DEFAULTS.randoms }, () => random.next()),
  };
}

/** An error with its position in the program called `file`. */
export function thrown(name: string, message: string, stack: string, file: string): GuestFailure {
  const position = positionIn(stack.slice(0, DEFAULTS.maxStack), file);
  return { kind: 'thrown', name: cut(name), message: cut(message), ...(position && { position }) };
}

const cut = (text: string) => text.slice(0, DEFAULTS.maxText);

/** V8's error when an ArrayBuffer does not fit into the isolate's memory limit. */
function isOutOfBuffers(name: string, message: string): boolean {
  return name === 'RangeError' && message === 'Array buffer allocation failed';
}
