import type { ExecutionTrace, GuestResults } from '../vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import {
  type EndEvent,
  type ErrorType,
  isEnd,
  type StartEvent,
  type TraceEvent,
} from '../vocabulary/trace-event.ts';

/** Replaces a text that may contain results of a call that must not be recorded. */
export const NOT_RECORDED = '[not recorded]';

export interface CallEnd {
  readonly success: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly errorType?: ErrorType;
}

/** A call that has ended, with its times on the clock of `now`. */
export interface PastCall extends CallEnd {
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface OpenCall {
  readonly traceId: string;
  /** `at`: when the call ended, on the clock of `now`, if that was earlier than now. */
  end(outcome: CallEnd, at?: number): void;
}

export interface RecorderOptions {
  /** Milliseconds with fraction, never decreasing. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Applied to arguments, results and error texts before an event exists. */
  readonly redact: (value: unknown) => unknown;
  /** Called for each event as it happens. */
  readonly onEvent?: (event: TraceEvent) => void;
}

/** Collects the events of one run. The caller names the parent; it is never inferred from a stack. */
export interface Recorder {
  /** In order of recording; calls recorded after they ended have earlier times than the events before them. */
  readonly events: readonly TraceEvent[];
  /**
   * `madeAt`: when the call was made, on the clock of `now`, if it had to wait until now. What is made at once starts at
   * once; how long it took is counted from now.
   */
  start(node: NodeId, parentTraceId: string | null, args?: unknown, madeAt?: number): OpenCall;
  /**
   * Records a call that has ended, perhaps timed by another clock: its times are clamped to lie between
   * its parent's start and now. Returns its trace id.
   */
  record(node: NodeId, parentTraceId: string | null, call: PastCall): string;
  /** Marks that the run made a call whose result must not be stored: results of its programs are not stored either. */
  conceal(): void;
  readonly isConcealed: boolean;
}

export function createRecorder({ now, newId, redact, onEvent }: RecorderOptions): Recorder {
  const events: TraceEvent[] = [];
  const startOf = new Map<string, number>();
  let isConcealed = false;
  const origin = now();
  const add = (event: TraceEvent) => {
    events.push(event);
    onEvent?.(event);
  };

  /** Adds the start event now; `endAt` adds the end event. */
  const open = (
    node: NodeId,
    parentTraceId: string | null,
    startTs: number,
    args?: unknown,
    beganTs = startTs,
  ) => {
    const prefix = kindOf(node) === 'capability' ? 'capability' : 'tool';
    const base = { traceId: newId(), parentTraceId, node };
    startOf.set(base.traceId, startTs);
    add({
      ...base,
      type: `${prefix}_start` as StartEvent['type'],
      ts: startTs,
      ...(args !== undefined && { args: redact(args) }),
    });
    return {
      traceId: base.traceId,
      endAt(ts: number, { success, result, error, errorType }: CallEnd) {
        const isShown = !isConcealed || kindOf(node) === 'tool';
        add({
          ...base,
          type: `${prefix}_end` as EndEvent['type'],
          ts,
          success,
          durationMs: ts - beganTs,
          ...(error !== undefined && { error: isShown ? String(redact(error)) : NOT_RECORDED }),
          ...(errorType !== undefined && { errorType }),
          ...(result !== undefined && isShown && { result: redact(result) }),
        });
      },
    };
  };

  return {
    events,
    get isConcealed() {
      return isConcealed;
    },
    conceal() {
      isConcealed = true;
    },
    start(node, parentTraceId, args, madeAt) {
      const beganTs = now() - origin;
      const startTs =
        madeAt === undefined
          ? beganTs
          : within(madeAt - origin, startOf.get(parentTraceId ?? '') ?? 0, beganTs);
      const { traceId, endAt } = open(node, parentTraceId, startTs, args, beganTs);
      return {
        traceId,
        end(outcome, at) {
          const latest = now() - origin;
          endAt(at === undefined ? latest : within(at - origin, beganTs, latest), outcome);
        },
      };
    },
    record(node, parentTraceId, call) {
      const latest = now() - origin;
      const earliest = startOf.get(parentTraceId ?? '') ?? 0;
      const startTs = within(call.startedAt - origin, earliest, latest);
      const { traceId, endAt } = open(node, parentTraceId, startTs);
      endAt(within(call.endedAt - origin, startTs, latest), call);
      return traceId;
    },
  };
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Phrases by which tools say why they failed. */
const WORDINGS: readonly (readonly [ErrorType, RegExp])[] = [
  ['TIMEOUT', /time[d]?[ -]?out|deadline/i],
  ['PERMISSION', /permission|denied|forbidden|unauthori[sz]ed|not allowed|\b40[13]\b/i],
  ['NETWORK', /getaddrinfo|E(?:NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)\b/],
  ['NOT_FOUND', /not found|no such|does ?n.t exist|unknown|ENOENT|\b404\b/i],
  ['VALIDATION', /invalid|validation|required|expected|must be|malformed|parse/i],
  ['NETWORK', /network|connect|ECONN|socket|unreachable|dns|\b50[234]\b/i],
];

export function classifyError(message: string): ErrorType {
  return WORDINGS.find(([, wording]) => wording.test(message))?.[0] ?? 'UNKNOWN';
}

type Texts = Pick<
  ExecutionTrace,
  'intentText' | 'errorMessage' | 'code' | 'decisions' | 'taskResults' | 'guest' | 'events' | 'verdict'
>;

type Redact = (value: unknown) => unknown;

/** Redacts piece by piece, as during recording, so that clean pieces stay identical. */
export function redactTrace<T extends Texts>(trace: T, redact: Redact): T {
  const text = (value: string | null) => (value === null ? null : String(redact(value)));
  return {
    ...trace,
    intentText: text(trace.intentText),
    errorMessage: text(trace.errorMessage),
    code: text(trace.code),
    decisions: trace.decisions.map((decision) => redact(decision)),
    taskResults: trace.taskResults.map((result) => redact(result)),
    guest: trace.guest && {
      ...trace.guest,
      args: redact(trace.guest.args),
      ...(trace.guest.results && { results: redact(trace.guest.results) as GuestResults }),
    },
    events: trace.events.map((event) => redactEvent(event, redact)),
    ...(trace.verdict && { verdict: { ...trace.verdict, reason: text(trace.verdict.reason) } }),
  };
}

export function redactEvent(event: TraceEvent, redact: Redact): TraceEvent {
  if (!isEnd(event)) return event.args === undefined ? event : { ...event, args: redact(event.args) };
  return {
    ...event,
    ...(event.error !== undefined && { error: String(redact(event.error)) }),
    ...(event.result !== undefined && { result: redact(event.result) }),
  };
}
