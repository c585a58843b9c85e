import { frameRandom } from '../../../core/numeric/random.ts';
import {
  callTooLarge,
  capabilityError,
  limitFailure,
  positionIn,
  STUCK,
} from '../../../engine/guest/guest-failures.ts';
import { CallQueue, type ConsoleBudget, createConsoleBudget } from '../../../engine/guest/host-side.ts';
import {
  createMarkRecorder,
  MARKS_PER_SITE,
  type MarkRecorder,
} from '../../../engine/guest/mark-recorder.ts';
import type { GuestCallError, GuestFailure, SandboxSettings } from '../../../engine/ports.ts';
import {
  type EntryMessage,
  MarkBuffer,
  monotonicNow,
  type Pipe,
  type ReplyMessage,
  type StartMessage,
} from '../messages.ts';
import type { GuestIsolate, Realm, RealmNative, StartText } from './isolate.ts';

const DEFAULTS = {
  /** Characters of a tool's or capability's name. */
  maxName: 256,
  /** Random numbers fetched from the host per request. */
  randoms: 128,
  /** Characters of a stack trace that are searched for the program's own lines. */
  maxStack: 8_192,
  /** Characters of a program's error text. */
  maxText: 2_100,
};

const ENDED: GuestCallError = { name: 'ToolError', code: 'cancelled', message: 'The program has ended' };

interface Call {
  readonly frame: Frame;
  /** The number its frame gave this call. */
  readonly id: number;
  readonly isTool: boolean;
}

/**
 * Runs all programs of one run in one isolate, exchanges messages for them, and enforces the limits outside
 * the guest.
 */
export class GuestRun {
  isOver = false;
  readonly #guest: GuestIsolate;
  readonly #start: StartMessage;
  readonly #parts: RunParts;
  readonly #queue: CallQueue;
  readonly #calls = new Map<number, Call>();
  readonly #cpuBefore: bigint;
  /** Calls made since a program was last given the floor. */
  readonly #made: Parameters<CallQueue['add']>[0][] = [];
  #callCount = 0;
  /** Capability calls the host has not answered yet. */
  #entering = 0;
  /** CPU milliseconds when last read: a disposed isolate no longer reports them. */
  #spentMs = 0;
  /** Why the run must end; set while a program is running. */
  #verdict: GuestFailure | null = null;

  constructor(guest: GuestIsolate, start: StartMessage, pipe: Pipe) {
    const { limits, seed } = start;
    this.#guest = guest;
    this.#start = start;
    this.#queue = new CallQueue(limits.callsInFlight);
    this.#cpuBefore = guest.isolate.cpuTime;
    const marks = new MarkBuffer((batch) => pipe.send({ type: 'marks', marks: batch }));
    this.#parts = {
      limits,
      seed,
      pipe,
      marks,
      recorder: createMarkRecorder(monotonicNow, (frame, mark) => marks.add(frame, mark)),
      console: createConsoleBudget(limits.consoleBytes),
      call: (frame, id, target, args) => this.#call(frame, id, target, args),
      condemn: (failure) => this.#condemn(failure),
    };
  }

  begin(texts: readonly string[]): void {
    this.#open(0, this.#start, texts, null);
  }

  reply({ call: number, ok, at }: ReplyMessage, text: string): void {
    const call = this.#take(number);
    if (call.isTool) this.#queue.freeSlot();
    else this.#entering--;
    this.#answer(call, ok, text, at);
  }

  entry(entry: EntryMessage, texts: readonly string[]): void {
    const call = this.#take(entry.call);
    this.#entering--;
    this.#open(entry.frame, entry, texts, call);
  }

  stop(): void {
    this.#finish({ ok: false, failure: { kind: 'cancelled', message: 'The run was ended from outside' } });
  }

  /** Prepares realms for the capabilities about to be entered; called when the child is idle. */
  prepare(): void {
    if (!this.isOver) this.#guest.prepareRealms(this.#entering);
  }

  #open(
    number: number,
    { name, sites, at }: Pick<StartMessage, 'name' | 'sites' | 'at'>,
    [script = '', args = 'null', deps = 'null']: readonly string[],
    caller: Frame['caller'],
  ): void {
    const { argumentBytes, resultBytes, consoleBytes } = this.#start.limits;
    const start: StartText = {
      sites,
      maxArguments: argumentBytes,
      maxResult: resultBytes,
      maxConsole: consoleBytes,
      maxMarksPerSite: MARKS_PER_SITE,
    };
    const realm = this.#guest.takeRealm();
    const frame: Frame = { number, name, realm, caller, pending: 0, clock: at, end: null };
    realm.bind(frameNatives(this.#parts, frame));
    this.#enter(frame, () => {
      const main = this.#guest.evaluate(realm, script, name).derefInto({ release: true });
      const given = [main, 0, true, JSON.stringify(start), at, args, deps];
      realm.enter.applySync(undefined, given as never);
    });
  }

  #answer({ frame, id }: Omit<Call, 'isTool'>, ok: boolean, text: string, at: number): void {
    frame.pending--;
    if (frame.end) return;
    frame.clock = Math.max(frame.clock, at);
    this.#enter(frame, () => frame.realm.enter.applySync(undefined, [undefined, id, ok, text, at] as never));
  }

  /** Runs a program until it has nothing left to do. */
  #enter(frame: Frame, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#caught(frame, error);
    }
    // Only now, so that none of the calls it made at once can end before another of them was made.
    for (const call of this.#made.splice(0)) this.#queue.add(call);
    const { limits } = this.#start;
    if (!this.#verdict && this.#cpuMs() > limits.cpuMs) this.#condemn(limitFailure('cpu', limits));
    // Only answers to its own calls can wake a program.
    if (!frame.end && frame.pending === 0) frame.end = { ok: false, failure: STUCK };
    if (this.#verdict) this.#finish({ ok: false, failure: this.#verdict });
    else if (frame.end && !frame.caller) this.#finish(frame.end);
    else if (frame.end) this.#leave(frame, frame.end);
  }

  /** V8 itself threw: the script does not compile, or the isolate is gone. */
  #caught(frame: Frame, error: unknown): void {
    if (this.#verdict) return;
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    if (!this.#guest.isolate.isDisposed) {
      frame.end ??= { ok: false, failure: thrown(name, message, stack, frame.name) };
      return;
    }
    const isMemory = message.includes('memory limit');
    this.#verdict = isMemory ? limitFailure('memory', this.#start.limits) : { kind: 'crashed', message };
  }

  #leave({ realm, number, clock, caller }: Frame, end: FrameEnd): void {
    this.#tell({ type: 'leave', frame: number, at: monotonicNow() }, end);
    realm.enter.release();
    realm.context.release();
    const text = end.ok ? end.text : JSON.stringify(capabilityError(end.failure));
    this.#answer(caller!, end.ok, text, clock);
  }

  #finish(end: FrameEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    const { recorder, console } = this.#parts;
    const truncated = recorder.isTruncated || console.isTruncated;
    this.#tell({ type: 'end', cpuMs: this.#cpuMs(), truncated }, end);
    if (!this.#guest.isolate.isDisposed) this.#guest.isolate.dispose();
  }

  #tell(
    head: { type: 'leave'; frame: number; at: number } | { type: 'end'; cpuMs: number; truncated: boolean },
    end: FrameEnd,
  ) {
    const { marks, pipe } = this.#parts;
    marks.flush();
    if (end.ok) pipe.send(head, end.text);
    else pipe.send({ ...head, failure: end.failure });
  }

  #cpuMs(): number {
    const { isolate } = this.#guest;
    if (!isolate.isDisposed) this.#spentMs = Number(isolate.cpuTime - this.#cpuBefore) / 1e6;
    return this.#spentMs;
  }

  #take(number: number): Call {
    const call = this.#calls.get(number);
    if (!call) throw new RangeError(`Unknown call ${number}`);
    this.#calls.delete(number);
    return call;
  }

  #call(frame: Frame, id: number, target: CallTarget, args: string | null): string | undefined {
    const { limits, marks, pipe } = this.#parts;
    if (this.#verdict || frame.end) return JSON.stringify(ENDED);
    const name = target.type === 'tool' ? `${target.server}:${target.tool}` : target.slug;
    if (name.length > DEFAULTS.maxName) return JSON.stringify(nameTooLong(name));
    if (args === null || Buffer.byteLength(args) > limits.argumentBytes) {
      return JSON.stringify(callTooLarge('arguments', name, limits));
    }
    const call = ++this.#callCount;
    if (call > limits.callsTotal) {
      this.#condemn(limitFailure('calls', limits));
      return JSON.stringify(ENDED);
    }
    const isTool = target.type === 'tool';
    this.#calls.set(call, { frame, id, isTool });
    frame.pending++;
    if (!isTool) this.#entering++;
    const at = monotonicNow();
    const send = () => {
      marks.flush();
      pipe.send({ ...target, frame: frame.number, call, at }, args);
    };
    this.#made.push({ takesSlot: isTool, send });
    return undefined;
  }

  /** Stops the running program at once. */
  #condemn(failure: GuestFailure): void {
    this.#verdict ??= failure;
    this.#cpuMs();
    if (!this.#guest.isolate.isDisposed) this.#guest.isolate.dispose();
  }
}

function nameTooLong(name: string): GuestCallError {
  const message = `Unknown name ${name.slice(0, 60)}…: names have at most ${DEFAULTS.maxName} characters`;
  return { name: 'ToolError', code: 'not_found', message, errorType: 'NOT_FOUND' };
}

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
function frameNatives(run: RunParts, frame: Frame): RealmNative {
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
function thrown(name: string, message: string, stack: string, file: string): GuestFailure {
  const position = positionIn(stack.slice(0, DEFAULTS.maxStack), file);
  return { kind: 'thrown', name: cut(name), message: cut(message), ...(position && { position }) };
}

const cut = (text: string) => text.slice(0, DEFAULTS.maxText);

/** V8's error when an ArrayBuffer does not fit into the isolate's memory limit. */
function isOutOfBuffers(name: string, message: string): boolean {
  return name === 'RangeError' && message === 'Array buffer allocation failed';
}
