import { canonicalJson } from '../../core/policy/call-hash.ts';
import { callSpans } from '../../core/tracing/derive-trace.ts';
import { recordedValue } from '../../core/tracing/read-values.ts';
import type { GuestAnswers, GuestResult, GuestResults } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { type ErrorType, isEnd, type TraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { GuestReply, JsonObject } from '../ports.ts';
import type { CallLog, CallToMake } from './call-log.ts';

const DEFAULTS = {
  /**
   * Calls made at the same time are answered in the order of the recording: how long an answer waits, in milliseconds,
   * for one that came before it then. A program that no longer makes that call goes on without it.
   */
  turnMs: 2_000,
};

/** Where a run first differs from the recorded one. */
export interface Difference {
  /**
   * `tool`: another call was made; `arguments`, `result`, `error`: they differ; `missing`: a recorded call was not made;
   * `extra`: a call was made that was not recorded.
   */
  readonly what: 'tool' | 'arguments' | 'result' | 'error' | 'missing' | 'extra';
  /** `filesystem:read_file#0`; null: the program itself. */
  readonly call: string | null;
  /** Where in the arguments or the result: `items[0].id`; empty: as a whole. */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** A call of a tool or a capability, as a trace has it. */
export interface TapedCall {
  /** `filesystem:read_file#0`: the first call of that tool. */
  readonly id: string;
  readonly traceId: string;
  readonly parent: string | null;
  readonly node: NodeId;
  readonly args: unknown;
  /** In milliseconds after the run began. */
  readonly startTs: number;
  readonly endTs: number;
  /** Null: it was still open when the run ended. */
  readonly outcome: TapedOutcome | null;
}

interface TapedOutcome {
  readonly success: boolean;
  /** Undefined: not recorded. */
  readonly result: unknown;
  readonly error?: string;
  readonly errorType?: ErrorType;
  /** Its place among all answers of the run. */
  readonly order: number;
}

/** Calls in the order they were made; what programs do by themselves is not among them. */
export function tapeOf(events: readonly TraceEvent[]): TapedCall[] {
  const orders = new Map(events.filter(isEnd).map(({ traceId }, order) => [traceId, order]));
  const counts = new Map<string, number>();
  return callSpans(events)
    .filter(({ start }) => kindOf(start.node) !== 'operation')
    .map(({ start, end, startTs, endTs }) => {
      const { node, traceId, parentTraceId: parent } = start;
      const nth = counts.get(node) ?? 0;
      counts.set(node, nth + 1);
      const outcome = end && {
        success: end.success,
        result: end.result,
        ...(end.error !== undefined && { error: end.error }),
        ...(end.errorType !== undefined && { errorType: end.errorType }),
        order: orders.get(traceId)!,
      };
      const at = { startTs, endTs, outcome: outcome ?? null };
      return { id: `${node}#${nth}`, traceId, parent, node, args: start.args, ...at };
    });
}

/** The recorded calls of a run, found again by the calls of another. */
export interface Tape {
  readonly calls: readonly TapedCall[];
  /** The first recorded call that is this one, by caller, node and arguments; or how the next one differs. */
  take(call: Pick<CallToMake, 'parent' | 'node' | 'args'>): TapedCall | Difference;
  isTaken(call: TapedCall): boolean;
  /** From now on this call of the other run stands for the recorded one: its own calls are found under it. */
  bind(traceId: string, call: Pick<TapedCall, 'traceId'>): void;
  /** The first recorded call that nobody took; null when there is none. */
  left(): TapedCall | null;
}

/**
 * `redact`: what was stored went through it, so that what is compared has to go through it too. `isFlat`: nobody knows
 * who made the calls, so that any program may.
 */
export function createTape(
  calls: readonly TapedCall[],
  redact: (value: unknown) => unknown,
  isFlat = false,
): Tape {
  const stands = new Map<string, string>();
  const taken = new Set<TapedCall>();
  const counts = new Map<string, number>();
  const tell = (args: unknown) => canonicalJson(redact(args ?? {}));
  const known = new Map(calls.map((call) => [call, tell(call.args)]));
  return {
    calls,
    isTaken: (call) => taken.has(call),
    bind: (traceId, { traceId: recorded }) => void stands.set(traceId, recorded),
    left: () => calls.find((call) => !taken.has(call)) ?? null,
    take({ parent, node, args }) {
      const nth = counts.get(node) ?? 0;
      counts.set(node, nth + 1);
      const id = `${node}#${nth}`;
      const caller = parent === null ? null : (stands.get(parent) ?? undefined);
      const open = calls.filter((call) => (isFlat || call.parent === caller) && !taken.has(call));
      const given = tell(args);
      const found = open.find((call) => call.node === node && known.get(call) === given);
      // What had ended before this one began comes first here, too.
      const due = open.find((call) => !found || call.endTs < found.startTs);
      if (found && !due) {
        taken.add(found);
        return found;
      }
      if (!due)
        return { what: 'extra', call: id, path: '', recorded: null, replayed: { node, args: redact(args) } };
      if (due.node !== node)
        return { what: 'tool', call: due.id, path: '', recorded: due.node, replayed: node };
      const differs = firstDifference(redact(due.args ?? {}), redact(args ?? {}));
      return {
        what: 'arguments',
        call: due.id,
        ...(differs ?? { path: '', recorded: due.args, replayed: args }),
      };
    },
  };
}

/** The first recorded call that was not made again; null if all were. */
export function missingFrom(tape: Pick<Tape, 'left'>): Difference | null {
  const left = tape.left();
  return left && { what: 'missing', call: left.id, path: '', recorded: left.node, replayed: null };
}

export function isDifference(found: TapedCall | Difference): found is Difference {
  return 'what' in found;
}

/** What differs between two runs: what they were, or where. */
export interface ValueDifference {
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/**
 * Where two JSON values first differ, in the order of the recorded one's keys; null where they are the same. Fields with
 * one of these names, or at one of these paths, are not compared.
 */
export function firstDifference(
  recorded: unknown,
  replayed: unknown,
  ignored: ReadonlySet<string> = new Set(),
  path = '',
): ValueDifference | null {
  if (ignored.has(path)) return null;
  if (
    !isComposite(recorded) ||
    !isComposite(replayed) ||
    Array.isArray(recorded) !== Array.isArray(replayed)
  ) {
    const isSame = canonicalJson(recorded) === canonicalJson(replayed);
    return isSame ? null : { path, recorded: recorded ?? null, replayed: replayed ?? null };
  }
  const [a, b] = [recorded as Record<string, unknown>, replayed as Record<string, unknown>];
  const own = (of: Record<string, unknown>, key: string) => (Object.hasOwn(of, key) ? of[key] : undefined);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (ignored.has(key)) continue;
    const at = Array.isArray(recorded) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const found = firstDifference(own(a, key), own(b, key), ignored, at);
    if (found) return found;
  }
  return null;
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What a fork does at the call it begins with, and after it. */
export interface ForkPoint {
  readonly call: TapedCall;
  /** The calls before it, which are answered as they were. */
  readonly past: ReadonlySet<TapedCall>;
  /** What the call is said to have given, instead of making it. */
  readonly result?: { readonly value: unknown };
  /** What the call is made with, instead of what the program gives it. */
  readonly arguments?: JsonObject;
}

export interface CassetteParts {
  readonly tape: Tape;
  readonly startedAt: number;
  readonly answers: GuestAnswers;
  readonly results?: GuestResults | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Absent: nothing is ever called. */
  readonly fork?: ForkPoint;
  /** Told once, before the run is halted. */
  readonly onDifference: (difference: Difference) => void;
}

/**
 * Recorded calls in place of servers: each call is answered as it was then, at the same moment of the program's clock and
 * in the same order. The first call that was not recorded ends the run; in a fork, those from its call on are made.
 */
export function createCassette(
  parts: CassetteParts,
): Pick<CallLog, 'recall' | 'enteredAt' | 'editedArguments' | 'readAgain'> {
  const { tape, startedAt, answers, results = {}, fork } = parts;
  const isPast = (call: TapedCall) => !fork || fork.past.has(call);
  const past = tape.calls.filter((call) => isPast(call) && kindOf(call.node) === 'tool');
  const answered = new Set<TapedCall>();
  const waiting = new Set<() => void>();
  let forkedAt: string | null = null;

  const settle = () => {
    for (const look of waiting) look();
  };
  const until = async (isDue: () => boolean) => {
    if (isDue()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => isDue() && resolve();
    const isOver = new AbortController();
    waiting.add(look);
    await Promise.race([promise, parts.sleep(DEFAULTS.turnMs, isOver.signal).catch(() => {})]);
    isOver.abort();
    waiting.delete(look);
  };
  const before = (call: TapedCall) => past.filter((other) => orderOf(other) < orderOf(call));

  return {
    editedArguments: (key) => (key === forkedAt ? fork?.arguments : undefined),
    enteredAt: (key) => (answers[key] ? startedAt + answers[key][0] : undefined),
    readAgain(key, id) {
      const read: GuestResult | undefined = results[key];
      if (!read?.reply || read.id !== id) return undefined;
      const { reply } = read;
      const at = startedAt + (answers[key]?.[0] ?? 0);
      if (reply.ok) return { ok: true, value: reply.value, at };
      const { code, message } = reply;
      return { ok: false, error: { name: 'ToolError', code, message, errorType: 'NOT_FOUND' }, at };
    },
    async recall(call) {
      const isReached = past.every(tape.isTaken);
      const found = tape.take(call);
      if (isDifference(found)) {
        // Past the point of a fork a program may do as it likes.
        if (fork && isReached) return null;
        parts.onDifference(found);
        throw differs(found);
      }
      if (isPast(found)) {
        await until(() => before(found).every((other) => answered.has(other)));
        answered.add(found);
        settle();
        return replyTo(found, answers[call.key], startedAt);
      }
      await until(() => past.every((other) => tape.isTaken(other)));
      if (found === fork?.call) forkedAt = call.key;
      if (found !== fork?.call || !fork.result) return null;
      return {
        ...replyTo(found, answers[call.key], startedAt),
        ok: true,
        value: fork.result.value,
      } as GuestReply;
    },
  };
}

function orderOf({ outcome }: TapedCall): number {
  return outcome?.order ?? Number.POSITIVE_INFINITY;
}

/** As the program was told it. */
function replyTo(
  { outcome, endTs }: TapedCall,
  answer: GuestAnswers[string] | undefined,
  startedAt: number,
): GuestReply {
  const [after = Math.round(endTs), code] = answer ?? [];
  const at = startedAt + after;
  if (outcome?.success) return { ok: true, value: recordedValue(outcome.result), at };
  const { error = '', errorType, result } = outcome ?? {};
  // What a tool says of itself is its own text, of no type.
  const isOwn = result !== undefined;
  const message = error === '' ? 'The tool failed without saying why' : error;
  const type = !isOwn && errorType ? { errorType } : {};
  return { ok: false, error: { name: 'ToolError', code: code ?? 'tool_failed', message, ...type }, at };
}

function differs({ what, call, recorded, replayed, path }: Difference): PmlError {
  const place = path === '' ? '' : ` at ${path}`;
  const told = {
    tool: `${replayed} instead of ${recorded}`,
    arguments: `${call} with different arguments${place}`,
    extra: `${call}, which was not recorded`,
  }[what as 'tool' | 'arguments' | 'extra'];
  return new PmlError('replay_differs', `The run called ${told ?? call}`, {
    hint: 'The calls before this one must be repeated exactly.',
  });
}
