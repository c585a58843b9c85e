import { createConsoleBudget } from '../../engine/ports/guest/console-budget.ts';
import { callTooLarge, limitFailure } from '../../engine/ports/guest/limit-failure.ts';
import { startWallClock } from '../../engine/ports/guest/wall-clock.ts';
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
  SandboxOptions,
} from '../../engine/ports.ts';
import { explainExit } from './explain-exit.ts';
import type { ChildExit, ChildListener, GuestChild } from './guest-child.ts';
import { startHostWatch } from './host-watch.ts';
import { createMarkReader } from './mark-reader.ts';
import type { ChildMessage } from './messages.ts';

const DEFAULTS = {
  /** Milliseconds a child has to end a run it is told to stop, before it is killed. */
  grace: 50,
  /** Bytes of a message beside its text. */
  headBytes: 128 * 1024,
};

export interface HostedRun {
  readonly outcome: GuestOutcome;
  /** The child may run another. */
  readonly isClean: boolean;
}

export type Complain = (message: string, error: unknown) => void;

/** One run in one child, which has nothing else to do: answers it, watches it, and believes it nothing. */
export function hostRun(
  child: GuestChild,
  program: GuestProgram,
  host: GuestHost,
  options: SandboxOptions,
  complain: Complain,
): Promise<HostedRun> {
  return new Promise((resolve) => {
    const { limits, signal } = options;
    const frames = new Map<number, GuestProgram>();
    const readMark = createMarkReader();
    const budget = createConsoleBudget(limits.consoleBytes);
    const lines: ConsoleLine[] = [];
    let calls = 0;
    let toolsInFlight = 0;
    let verdict: GuestFailure | null = null;
    let isOver = false;
    let grace: NodeJS.Timeout | undefined;

    /** The engine's own faults must not end a run in the midst of a message. */
    const safely = (what: string, work: () => void) => {
      try {
        work();
      } catch (error) {
        complain(what, error);
      }
    };

    const finish = (end: GuestEnd, isClean: boolean, cpuMs: number, truncated = false) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(grace);
      wall.stop();
      watch.stop();
      signal?.removeEventListener('abort', cancel);
      child.listener = null;
      const left: GuestEnd = {
        ok: false,
        error: end.ok
          ? { kind: 'cancelled', message: 'The program ended without waiting for it' }
          : end.error,
      };
      for (const frame of [...frames.keys()].reverse()) {
        if (frame !== 0) safely('leaveCapability failed', () => host.leaveCapability(frame, left));
      }
      const outcome = { ...end, console: lines, truncated: truncated || budget.isTruncated, cpuMs };
      resolve({ outcome, isClean });
    };

    /** Decided from outside: the child gets a moment to end the run itself. */
    const terminate = (failure: GuestFailure) => {
      if (verdict || isOver) return;
      verdict = failure;
      child.send({ type: 'stop' });
      grace = setTimeout(() => child.kill(), DEFAULTS.grace);
    };
    const kill = (failure: GuestFailure) => {
      verdict ??= failure;
      child.kill();
    };
    const breach = (what: string) =>
      kill({ kind: 'crashed', message: `The process the program ran in broke the protocol: ${what}` });
    const cancel = () => terminate({ kind: 'cancelled', message: 'The run was cancelled' });
    const isListening = () => !isOver && verdict === null;

    const refuse = (call: number, error: GuestCallError, at: number) =>
      child.send({ type: 'reply', call, ok: false, at }, JSON.stringify(error));

    const reply = (call: number, name: string, answer: GuestReply) => {
      if (!answer.ok) return refuse(call, answer.error, answer.at);
      const text = toText(answer.value);
      if (text === undefined) refuse(call, internal(`The result of ${name} is no data`), answer.at);
      else if (Buffer.byteLength(text) > limits.resultBytes) {
        refuse(call, callTooLarge('result', name, limits), answer.at);
      } else child.send({ type: 'reply', call, ok: true, at: answer.at }, text);
    };

    const enter = (call: number, slug: string, entry: GuestEntry) => {
      if (!entry.ok) return refuse(call, entry.error, entry.at);
      const { frame, at } = entry;
      const texts = programTexts(entry.program);
      if (!texts) return refuse(call, internal(`The arguments of ${slug} are no data`), at);
      frames.set(frame, entry.program);
      child.send({ type: 'entry', call, frame, at, ...programHead(entry.program) }, ...texts);
    };

    const count = (frame: number): boolean => {
      if (!frames.has(frame)) breach(`a call from program ${frame}, which does not run`);
      else if (++calls > limits.callsTotal) kill(limitFailure('calls', limits));
      else return true;
      return false;
    };

    const onTool = (message: ChildMessage & { type: 'tool' }, args: unknown) => {
      const { frame, call, server, tool } = message;
      if (!count(frame)) return;
      if (++toolsInFlight > limits.callsInFlight) return breach('more calls at once than allowed');
      const name = `${server}:${tool}`;
      const held = new Promise<GuestReply>((answered) => {
        answered(host.callTool(frame, { server, tool, args }, wall.hold));
      });
      void held
        .catch((error: unknown) => unanswered(name, error, complain))
        .then((answer) => {
          toolsInFlight--;
          if (isListening()) reply(call, name, answer);
        });
    };

    const onEnter = ({ frame, call, slug }: ChildMessage & { type: 'enter' }, args: unknown) => {
      if (!count(frame)) return;
      const entered = new Promise<GuestEntry>((answered) => {
        answered(host.enterCapability(frame, slug, args));
      });
      void entered
        .catch((error: unknown) => unanswered(slug, error, complain))
        .then((entry) => {
          if (isListening()) enter(call, slug, entry);
        });
    };

    const onMessage = (message: ChildMessage, [text = '']: readonly string[]) => {
      switch (message.type) {
        case 'tool':
          return isListening() ? onTool(message, JSON.parse(text)) : undefined;
        case 'enter':
          return isListening() ? onEnter(message, JSON.parse(text)) : undefined;
        case 'leave': {
          const { frame, failure } = message;
          if (frame === 0 || !frames.delete(frame))
            return breach(`program ${frame} ended, which does not run`);
          const end = toEnd(failure, text);
          return safely('leaveCapability failed', () => host.leaveCapability(frame, end));
        }
        case 'marks':
          for (const wire of message.marks) {
            const mark = readMark(wire, frames);
            if (!mark) return breach('a mark of nothing');
            safely('mark failed', () => host.mark(wire[0], mark));
          }
          return;
        case 'print': {
          const kept = budget.take(text);
          if (kept !== null) lines.push({ level: message.level, text: kept });
          return;
        }
        case 'end': {
          const end: GuestEnd = verdict ? { ok: false, error: verdict } : toEnd(message.failure, text);
          const isMemory = !end.ok && end.error.kind === 'limit' && end.error.limit === 'memory';
          return finish(end, !isMemory, message.cpuMs, message.truncated);
        }
        case 'ready':
          return breach('it is ready twice');
      }
    };

    const onExit = (exit: ChildExit) => {
      const { failure, cpuMs } = explainExit(exit, limits);
      finish({ ok: false, error: verdict ?? failure }, false, cpuMs ?? watch.cpuMs);
    };

    const listener: ChildListener = { onMessage, onBreach: breach, onExit };
    child.listener = listener;
    child.maxBytes =
      DEFAULTS.headBytes + Math.max(limits.argumentBytes, limits.resultBytes, limits.consoleBytes);
    const wall = startWallClock(limits.wallMs, () => terminate(limitFailure('wall', limits)));
    const watch = startHostWatch(child.pid, limits, (limit) => kill(limitFailure(limit, limits)));
    signal?.addEventListener('abort', cancel);

    frames.set(0, program);
    const texts = programTexts(program);
    if (!texts) {
      const error: GuestFailure = { kind: 'no_data', message: 'The arguments of the program are no data' };
      return finish({ ok: false, error }, true, 0);
    }
    const { seed, startedAt } = options;
    child.send({ type: 'start', seed, limits, at: startedAt, ...programHead(program) }, ...texts);
  });
}

function programHead({ name, sites }: GuestProgram) {
  return { name, sites: sites.map((site) => (site.kind === 'operation' ? site.operation : null)) };
}

/** Script, arguments and dependencies; null when these are no data. */
function programTexts({ script, args, deps }: GuestProgram): string[] | null {
  const texts = [toText(args), toText(deps)];
  return texts.includes(undefined) ? null : [script, ...(texts as string[])];
}

/** Undefined for what is no data; what is not there is null. */
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

/** The engine answers failures as data; when it throws after all, the guest is told no more than that. */
function unanswered(name: string, error: unknown, complain: Complain) {
  complain(`${name} was not answered`, error);
  return { ok: false, error: internal(`${name} could not be called`), at: 0 } as const;
}
