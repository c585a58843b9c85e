import { readFileSync } from 'node:fs';
import { callTooLarge, limitFailure } from '../../engine/guest/guest-failures.ts';
import { createConsoleBudget, startWallClock } from '../../engine/guest/host-side.ts';
import type {
  ConsoleLine,
  GuestCallError,
  GuestEnd,
  GuestEntry,
  GuestFailure,
  GuestHost,
  GuestOutcome,
  GuestProgram,
  GuestReply,
  GuestToolCall,
  SandboxOptions,
  SandboxSettings,
} from '../../engine/ports.ts';
import { type ChildExit, type ChildListener, explainExit, type GuestChild } from './guest-child.ts';
import { type ChildMessage, createMarkReader, type WireMark } from './messages.ts';

const DEFAULTS = {
  /** Milliseconds a child has to stop a run before it is killed. */
  grace: 50,
  /** Bytes of a message besides its texts. */
  headBytes: 128 * 1024,
  /** Milliseconds between two checks. */
  interval: 50,
  /** Above the factor of the child's own watch: this one is for a child whose watch no longer works. */
  memoryFactor: 3,
  memorySlackMb: 128,
  cpuFactor: 2,
  cpuSlackMs: 500,
};

export interface RunEnd {
  readonly outcome: GuestOutcome;
  /** The child can be reused. */
  readonly isClean: boolean;
  /** The child died before its first message, so the program had no effects: another child may try. */
  readonly isUntouched: boolean;
}

export type Complain = (message: string, error: unknown) => void;

type ToolMessage = ChildMessage & { type: 'tool' };
type EnterMessage = ChildMessage & { type: 'enter' };
type LeaveMessage = ChildMessage & { type: 'leave' };
type EndMessage = ChildMessage & { type: 'end' };

/** One run in one child. Answers and watches the child, and validates everything it sends. */
export class HostedRun implements ChildListener {
  readonly ended: Promise<RunEnd>;
  readonly #child: GuestChild;
  readonly #host: GuestHost;
  readonly #options: SandboxOptions;
  readonly #complain: Complain;
  readonly #marks = createMarkReader();
  readonly #budget;
  readonly #wall;
  readonly #watch;
  readonly #lines: ConsoleLine[] = [];
  /** Running programs, the outermost first. */
  readonly #frames = new Map<number, GuestProgram>();
  #hasSpoken = false;
  #calls = 0;
  #toolsInFlight = 0;
  /** Why the host ends the run, if it does. */
  #verdict: GuestFailure | null = null;
  #isOver = false;
  #grace: NodeJS.Timeout | undefined;
  #resolve: (end: RunEnd) => void = () => {};

  constructor(child: GuestChild, host: GuestHost, options: SandboxOptions, complain: Complain) {
    const { limits } = options;
    this.#child = child;
    this.#host = host;
    this.#options = options;
    this.#complain = complain;
    this.#budget = createConsoleBudget(limits.consoleBytes);
    this.#wall = startWallClock(limits.wallMs, () => this.#terminate(limitFailure('wall', limits)));
    this.#watch = startHostWatch(child.pid, limits, (limit) => this.#kill(limitFailure(limit, limits)));
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    child.listener = this;
    child.maxBytes =
      DEFAULTS.headBytes + Math.max(limits.argumentBytes, limits.resultBytes, limits.consoleBytes);
  }

  start(program: GuestProgram): void {
    const { seed, limits, startedAt } = this.#options;
    const texts = programTexts(program);
    if (!texts) {
      const error: GuestFailure = {
        kind: 'no_data',
        message: 'The arguments of the program are not JSON data',
      };
      this.#finish({ ok: false, error }, true, 0);
      return;
    }
    this.#frames.set(0, program);
    this.#child.send({ type: 'start', seed, limits, at: startedAt, ...programHead(program) }, ...texts);
  }

  cancel(message: string): void {
    this.#terminate({ kind: 'cancelled', message });
  }

  onMessage(message: ChildMessage, [text = '']: readonly string[]): void {
    this.#hasSpoken = true;
    switch (message.type) {
      case 'tool':
        if (this.#isListening) this.#onTool(message, JSON.parse(text));
        break;
      case 'enter':
        if (this.#isListening) this.#onEnter(message, JSON.parse(text));
        break;
      case 'leave':
        this.#onLeave(message, text);
        break;
      case 'marks':
        for (const mark of message.marks) this.#onMark(mark);
        break;
      case 'print': {
        const kept = this.#budget.take(text);
        if (kept !== null) this.#lines.push({ level: message.level, text: kept });
        break;
      }
      case 'end':
        this.#onEnd(message, text);
        break;
      case 'ready':
        this.onBreach('it reported ready twice');
    }
  }

  onBreach(what: string): void {
    const message = `The process the program ran in broke the protocol: ${what}`;
    this.#kill({ kind: 'crashed', message });
  }

  onExit(exit: ChildExit): void {
    const { failure, cpuMs } = explainExit(exit, this.#options.limits);
    if (!this.#verdict && failure.kind === 'crashed') this.#complain(failure.message, exit.lastWords);
    this.#finish({ ok: false, error: this.#verdict ?? failure }, false, cpuMs ?? this.#watch.cpuMs);
  }

  get #isListening(): boolean {
    return !this.#isOver && this.#verdict === null;
  }

  #onTool({ frame, call, server, tool, at }: ToolMessage, args: unknown): void {
    const { callsInFlight } = this.#options.limits;
    if (!this.#count(frame)) return;
    if (++this.#toolsInFlight > callsInFlight) this.onBreach('more calls at once than allowed');
    else this.#callTool(frame, call, { server, tool, args, madeAt: this.#marks.toHost(at) });
  }

  #callTool(frame: number, number: number, call: GuestToolCall): void {
    const name = `${call.server}:${call.tool}`;
    const asked = this.#asked(name, () => this.#host.callTool(frame, call, this.#wall.hold));
    void asked.then((reply) => {
      this.#toolsInFlight--;
      if (this.#isListening) this.#reply(number, name, reply);
    });
  }

  #onEnter({ frame, call, slug, at }: EnterMessage, args: unknown): void {
    if (!this.#count(frame)) return;
    const madeAt = this.#marks.toHost(at);
    void this.#asked(slug, () => this.#host.enterCapability(frame, slug, args, madeAt)).then((entry) => {
      if (this.#isListening) this.#enter(call, slug, entry);
    });
  }

  #onLeave({ frame, failure, at }: LeaveMessage, text: string): void {
    if (frame === 0 || !this.#frames.delete(frame)) {
      this.onBreach(`program ${frame} ended but was not running`);
    } else this.#leave(frame, toEnd(failure, text), this.#marks.toHost(at));
  }

  #onMark(wire: WireMark): void {
    const mark = this.#marks.read(wire, this.#frames);
    if (mark) this.#safely('a mark was not recorded', () => this.#host.mark(wire[0], mark));
    else this.onBreach('an invalid mark');
  }

  #onEnd({ failure, cpuMs, truncated }: EndMessage, text: string): void {
    const end: GuestEnd = this.#verdict ? { ok: false, error: this.#verdict } : toEnd(failure, text);
    // A program that reached its memory limit frees its memory slowly.
    const isFull = !end.ok && end.error.kind === 'limit' && end.error.limit === 'memory';
    this.#finish(end, !isFull, cpuMs, truncated);
  }

  #count(frame: number): boolean {
    const { limits } = this.#options;
    if (!this.#frames.has(frame)) this.onBreach(`a call from program ${frame}, which is not running`);
    else if (++this.#calls > limits.callsTotal) this.#kill(limitFailure('calls', limits));
    else return true;
    return false;
  }

  /** The engine returns failures as data. If it throws nevertheless, the guest gets no details. */
  async #asked<T>(name: string, ask: () => Promise<T>): Promise<T | Refusal> {
    try {
      return await ask();
    } catch (error) {
      this.#complain(`${name} was not answered`, error);
      return { ok: false, error: internal(`${name} could not be called`), at: this.#options.startedAt };
    }
  }

  #reply(call: number, name: string, reply: GuestReply): void {
    const { limits } = this.#options;
    const text = reply.ok ? toText(reply.value) : '';
    if (!reply.ok) this.#refuse(call, reply);
    else if (text === undefined) {
      this.#refuse(call, { error: internal(`The result of ${name} is not JSON data`), at: reply.at });
    } else if (Buffer.byteLength(text) > limits.resultBytes) {
      this.#refuse(call, { error: callTooLarge('result', name, limits), at: reply.at });
    } else this.#child.send({ type: 'reply', call, ok: true, at: reply.at }, text);
  }

  #enter(call: number, slug: string, entry: GuestEntry): void {
    const texts = entry.ok ? programTexts(entry.program) : null;
    if (!entry.ok) this.#refuse(call, entry);
    else if (!texts) {
      this.#refuse(call, { error: internal(`The arguments of ${slug} are not JSON data`), at: entry.at });
    } else {
      const { frame, at, program } = entry;
      this.#frames.set(frame, program);
      this.#child.send({ type: 'entry', call, frame, at, ...programHead(program) }, ...texts);
    }
  }

  #refuse(call: number, { error, at }: Omit<Refusal, 'ok'>): void {
    this.#child.send({ type: 'reply', call, ok: false, at }, JSON.stringify(error));
  }

  #leave(frame: number, end: GuestEnd, at = performance.now()): void {
    this.#safely('the end of a capability was not recorded', () =>
      this.#host.leaveCapability(frame, end, at),
    );
  }

  /** Ends the run from outside; the child gets a moment to end it by itself. */
  #terminate(failure: GuestFailure): void {
    if (!this.#isListening) return;
    this.#verdict = failure;
    this.#child.send({ type: 'stop' });
    this.#grace = setTimeout(() => this.#child.kill(), DEFAULTS.grace);
  }

  #kill(failure: GuestFailure): void {
    this.#verdict ??= failure;
    this.#child.kill();
  }

  #finish(end: GuestEnd, isClean: boolean, cpuMs: number, wasTruncated = false): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#grace);
    this.#wall.stop();
    this.#watch.stop();
    this.#child.listener = null;
    const error = end.ok ? UNAWAITED : end.error;
    for (const frame of [...this.#frames.keys()].reverse()) {
      if (frame !== 0) this.#leave(frame, { ok: false, error });
    }
    const truncated = wasTruncated || this.#budget.isTruncated;
    const outcome: GuestOutcome = { ...end, console: this.#lines, truncated, cpuMs };
    const isCrash = !end.ok && end.error.kind === 'crashed';
    this.#resolve({ outcome, isClean, isUntouched: isCrash && !this.#hasSpoken });
  }

  /** An error in the engine must not abort the handling of a message. */
  #safely(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#complain(what, error);
    }
  }
}

interface Refusal {
  readonly ok: false;
  readonly error: GuestCallError;
  readonly at: number;
}

const UNAWAITED: GuestFailure = {
  kind: 'cancelled',
  message: 'The program ended without awaiting this call',
};

function programHead({ name, sites }: GuestProgram) {
  return { name, sites: sites.map((site) => (site.kind === 'operation' ? site.operation : null)) };
}

/** Script, arguments and dependencies as texts; null if they are not JSON data. */
function programTexts({ script, args, deps }: GuestProgram): string[] | null {
  const texts = [toText(args), toText(deps)];
  return texts.includes(undefined) ? null : [script, ...(texts as string[])];
}

/** JSON of a value, `null` for a missing one; undefined if it is not JSON data. */
function toText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value ?? null);
  } catch {
    return undefined;
  }
}

function toEnd(failure: GuestFailure | undefined, text: string): GuestEnd {
  return failure ? { ok: false, error: failure } : { ok: true, value: JSON.parse(text) as unknown };
}

function internal(message: string): GuestCallError {
  return { name: 'ToolError', code: 'internal', message, errorType: 'UNKNOWN' };
}

interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuMs: number;
}

/** `/proc` reports CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICK_MS = 10;

export interface HostWatch {
  /** CPU milliseconds the child has used since the watch began, at the last check. */
  readonly cpuMs: number;
  stop(): void;
}

/** Watches a child from outside, on systems with `/proc`. */
function startHostWatch(
  pid: number,
  { memoryMb, cpuMs }: SandboxSettings,
  onLimit: (limit: 'memory' | 'cpu') => void,
): HostWatch {
  const mostMs = cpuMs * DEFAULTS.cpuFactor + DEFAULTS.cpuSlackMs;
  const mostBytes = (memoryMb * DEFAULTS.memoryFactor + DEFAULTS.memorySlackMb) * 2 ** 20;
  let first: ProcessUsage | null = null;
  let used = 0;
  const timer = setInterval(() => {
    const usage = processUsage(pid);
    if (!usage) return;
    first ??= usage;
    used = usage.cpuMs - first.cpuMs;
    if (usage.residentBytes > mostBytes) onLimit('memory');
    else if (used > mostMs) onLimit('cpu');
  }, DEFAULTS.interval);
  return {
    get cpuMs() {
      return used;
    },
    stop: () => clearInterval(timer),
  };
}

/** A process's usage as the kernel reports it; null on systems without `/proc`. */
function processUsage(pid: number): ProcessUsage | null {
  if (process.platform !== 'linux') return null;
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    // The command's name may contain anything, so count fields after it: state is field 3, utime 14, stime
    // 15.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      residentBytes: Number(resident?.[1] ?? 0) * 1024,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    };
  } catch {
    return null;
  }
}
