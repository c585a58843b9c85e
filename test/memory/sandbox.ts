import { frameRandom } from '../../src/core/numeric/random.ts';
import {
  callTooLarge,
  capabilityError,
  limitFailure,
  positionIn,
  STUCK,
} from '../../src/engine/guest/guest-failures.ts';
import {
  createGuestDate,
  createGuestFrame,
  type FrameNative,
  type GuestFrame,
} from '../../src/engine/guest/guest-frame.ts';
import { CallQueue, createConsoleBudget, startWallClock } from '../../src/engine/guest/host-side.ts';
import { createMarkRecorder, MARKS_PER_SITE } from '../../src/engine/guest/mark-recorder.ts';
import type {
  ConsoleLine,
  GuestCallError,
  GuestEnd,
  GuestFailure,
  GuestHost,
  GuestOutcome,
  GuestProgram,
  GuestReply,
  Sandbox,
  SandboxOptions,
} from '../../src/engine/ports.ts';

/**
 * Runs programs in this process, with the same guest code as the real sandbox and none of its isolation: for
 * trusted programs. Memory and CPU are not limited, and a program that never yields blocks the process it
 * runs in.
 */
export function createMemorySandbox(): Sandbox {
  const ends = new Set<() => void>();
  return {
    async run(program, host, options) {
      const run = new MemoryRun(host, options);
      const end = () =>
        run.finish({ ok: false, error: { kind: 'cancelled', message: 'The run was cancelled' } });
      ends.add(end);
      options.signal?.addEventListener('abort', end);
      if (options.signal?.aborted) end();
      else run.open(0, program, options.startedAt, null);
      const outcome = await run.outcome;
      options.signal?.removeEventListener('abort', end);
      ends.delete(end);
      return outcome;
    },
    async close() {
      for (const end of ends) end();
    },
  };
}

interface Frame {
  readonly number: number;
  readonly caller: { readonly frame: Frame; readonly id: number } | null;
  pending: number;
  guest: GuestFrame | null;
}

/** What `Function` puts before a program, so that the program gets its own clock and random numbers. */
const HEAD = 'return ';
const HEAD_LINES = 2;

class MemoryRun {
  readonly outcome: Promise<GuestOutcome>;
  readonly #host: GuestHost;
  readonly #options: SandboxOptions;
  readonly #queue: CallQueue;
  readonly #wall;
  readonly #budget;
  readonly #book;
  readonly #lines: ConsoleLine[] = [];
  readonly #open = new Map<number, Frame>();
  #calls = 0;
  #resolve: (outcome: GuestOutcome) => void = () => {};
  #isOver = false;

  constructor(host: GuestHost, options: SandboxOptions) {
    const { limits } = options;
    this.#host = host;
    this.#options = options;
    this.#queue = new CallQueue(limits.callsInFlight);
    this.#budget = createConsoleBudget(limits.consoleBytes);
    this.#book = createMarkRecorder(
      () => performance.now(),
      (frame, mark) => host.mark(frame, mark),
    );
    this.#wall = startWallClock(limits.wallMs, () => this.#fail(limitFailure('wall', limits)));
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  open(number: number, program: GuestProgram, at: number, caller: Frame['caller']): void {
    const { limits, seed } = this.#options;
    const frame: Frame = { number, caller, pending: 0, guest: null };
    this.#open.set(number, frame);
    const guest = createGuestFrame(this.#natives(frame, program.name));
    frame.guest = guest;
    const sizes = {
      maxArguments: limits.argumentBytes,
      maxResult: limits.resultBytes,
      maxConsole: limits.consoleBytes,
      maxMarksPerSite: MARKS_PER_SITE,
    };
    const input = {
      sites: program.sites.map((site) => (site.kind === 'operation' ? site.operation : null)),
      args: JSON.stringify(program.args ?? null),
      deps: JSON.stringify(program.deps ?? null),
      at,
    };
    try {
      guest.start(evaluate(program, guest, frameRandom(seed, number).next), input, sizes);
      this.#whenIdle(frame);
    } catch (error) {
      const { name, message } = error as Error;
      this.#leave(frame, { ok: false, error: { kind: 'thrown', name, message } });
    }
  }

  finish(end: GuestEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wall.stop();
    const unfinished: GuestFailure = {
      kind: 'cancelled',
      message: 'The program ended without awaiting this call',
    };
    for (const number of [...this.#open.keys()].reverse()) {
      const error = end.ok ? unfinished : end.error;
      if (number !== 0) this.#host.leaveCapability(number, { ok: false, error }, performance.now());
    }
    const truncated = this.#budget.isTruncated || this.#book.isTruncated;
    this.#resolve({ ...end, console: this.#lines, truncated, cpuMs: 0 });
  }

  #fail(error: GuestFailure): void {
    this.finish({ ok: false, error });
  }

  /** Only the answers to its own calls wake a program. */
  #whenIdle(frame: Frame): void {
    setTimeout(() => {
      if (frame.pending === 0) this.#leave(frame, { ok: false, error: STUCK });
    });
  }

  #leave(frame: Frame, end: GuestEnd): void {
    if (this.#isOver || !this.#open.has(frame.number)) return;
    if (frame.caller) {
      this.#open.delete(frame.number);
      this.#host.leaveCapability(frame.number, end, performance.now());
      const text = JSON.stringify(end.ok ? end.value : capabilityError(end.error));
      this.#answer(frame.caller, end.ok, text, frame.guest?.now() ?? 0);
    } else this.finish(end);
  }

  #answer({ frame, id }: { frame: Frame; id: number }, ok: boolean, text: string, at: number): void {
    frame.pending--;
    if (this.#isOver || !this.#open.has(frame.number)) return;
    frame.guest!.deliver(id, ok, text, at);
    this.#whenIdle(frame);
  }

  #natives(frame: Frame, file: string): FrameNative {
    const { limits } = this.#options;
    const end = (outcome: GuestEnd) => this.#leave(frame, outcome);
    return {
      ...this.#book.frame(frame.number),
      callTool: (id, server, tool, args) =>
        this.#call(frame, id, `${server}:${tool}`, args, true, async (given) => {
          const call = { server, tool, args: given };
          const reply = await this.#host.callTool(frame.number, call, this.#wall.hold);
          this.#queue.freeSlot();
          const { ok, text } = replyText(reply, `${server}:${tool}`, limits);
          this.#answer({ frame, id }, ok, text, reply.at);
        }),
      callCapability: (id, slug, args) =>
        this.#call(frame, id, slug, args, false, async (given) => {
          const entry = await this.#host.enterCapability(frame.number, slug, given);
          if (this.#isOver) return;
          if (entry.ok) this.open(entry.frame, entry.program, entry.at, { frame, id });
          else this.#answer({ frame, id }, false, JSON.stringify(entry.error), entry.at);
        }),
      print: (level, text) => {
        const kept = this.#budget.take(text);
        if (kept !== null) this.#lines.push({ level, text: kept });
        return !this.#budget.isFull;
      },
      succeed: (text) => {
        if (bytesOf(text) > limits.resultBytes) end({ ok: false, error: limitFailure('result', limits) });
        else end({ ok: true, value: JSON.parse(text) });
      },
      fail: (kind, name, message, stack) => {
        const position = sourcePosition(positionIn(stack, file));
        if (kind === 'too_large') end({ ok: false, error: limitFailure('result', limits) });
        else if (kind === 'no_data') end({ ok: false, error: { kind, message } });
        else end({ ok: false, error: { kind, name, message, ...(position && { position }) } });
      },
    };
  }

  #call(
    frame: Frame,
    id: number,
    name: string,
    args: string | null,
    takesSlot: boolean,
    make: (args: unknown) => Promise<void>,
  ): string | undefined {
    const { limits } = this.#options;
    if (args === null || bytesOf(args) > limits.argumentBytes) {
      return JSON.stringify(callTooLarge('arguments', name, limits));
    }
    if (this.#isOver || !this.#open.has(frame.number)) return JSON.stringify(ENDED);
    if (++this.#calls > limits.callsTotal) {
      this.#fail(limitFailure('calls', limits));
      return JSON.stringify(ENDED);
    }
    frame.pending++;
    const send = () => {
      make(JSON.parse(args)).catch((error: unknown) =>
        this.#answer({ frame, id }, false, unanswered(error), 0),
      );
    };
    this.#queue.add({ takesSlot, send });
    return undefined;
  }
}

const ENDED: GuestCallError = { name: 'ToolError', code: 'cancelled', message: 'The program has ended' };

/** The engine returns failures as data; this is for the case that it throws. */
function unanswered(error: unknown): string {
  const told: GuestCallError = { name: 'ToolError', code: 'internal', message: String(error) };
  return JSON.stringify(told);
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

function replyText(reply: GuestReply, name: string, limits: SandboxOptions['limits']) {
  if (!reply.ok) return { ok: false, text: JSON.stringify(reply.error) };
  const text = JSON.stringify(reply.value ?? null);
  if (bytesOf(text) <= limits.resultBytes) return { ok: true, text };
  return { ok: false, text: JSON.stringify(callTooLarge('result', name, limits)) };
}

function evaluate({ script, name }: GuestProgram, guest: GuestFrame, random: () => number): unknown {
  const chance = Object.create(Math, { random: { value: random } }) as unknown;
  const make = new Function('Date', 'Math', `${HEAD}${script}\n//# sourceURL=${name}`);
  return make(createGuestDate(guest.now), chance) as unknown;
}

type Position = ReturnType<typeof positionIn>;

/** Maps a place in the code that `Function` made to the script. */
function sourcePosition(position: Position): Position {
  if (!position) return undefined;
  const line = position.line - HEAD_LINES;
  return { ...position, line, column: line === 1 ? position.column - HEAD.length : position.column };
}
