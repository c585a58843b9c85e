import type { ExecutionTrace } from '../vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import {
  type EndEvent,
  type ErrorType,
  isEnd,
  type StartEvent,
  type TraceEvent,
} from '../vocabulary/trace-event.ts';

/** Stands for a text that a call of which nothing is kept may have gone into. */
export const NOT_RECORDED = '[not recorded]';

export interface CallEnd {
  readonly success: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly errorType?: ErrorType;
}

/** A call that is over, with its moments on the scale of `now`. */
export interface PastCall extends CallEnd {
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface OpenCall {
  readonly traceId: string;
  /** `at`: when it was over, on the scale of `now`, if that was before now. */
  end(outcome: CallEnd, at?: number): void;
}

export interface RecorderOptions {
  /** Milliseconds with fraction, never going back. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Applied to arguments, results and error texts before an event exists. */
  readonly redact: (value: unknown) => unknown;
  /** Told of each event as it happens. */
  readonly onEvent?: (event: TraceEvent) => void;
}

/** Collects the events of one run. The caller names the parent; it is never guessed from a stack. */
export interface Recorder {
  /** As recorded; of calls told afterwards the moments lie before those of events that stand before them. */
  readonly events: readonly TraceEvent[];
  start(node: NodeId, parentTraceId: string | null, args?: unknown): OpenCall;
  /**
   * A call told after it is over, by whom another clock may have served: it is taken to lie between its
   * parent's start and now. Answers its trace id.
   */
  record(node: NodeId, parentTraceId: string | null, call: PastCall): string;
  /** A call is made of which nothing may be kept: what programs make of it is not kept either. */
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

  /** The start is an event at once, the end when it is known. */
  const open = (node: NodeId, parentTraceId: string | null, startTs: number, args?: unknown) => {
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
          durationMs: ts - startTs,
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
    start(node, parentTraceId, args) {
      const startTs = now() - origin;
      const { traceId, endAt } = open(node, parentTraceId, startTs, args);
      return {
        traceId,
        end(outcome, at) {
          const latest = now() - origin;
          endAt(at === undefined ? latest : within(at - origin, startTs, latest), outcome);
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

/** Tools say in words why they failed; these are the words they use. */
const WORDINGS: readonly (readonly [ErrorType, RegExp])[] = [
  ['TIMEOUT', /time[d]?[ -]?out|deadline/i],
  ['PERMISSION', /permission|denied|forbidden|unauthori[sz]ed|not allowed|\b40[13]\b/i],
  ['NOT_FOUND', /not found|no such|does ?n.t exist|unknown|ENOENT|\b404\b/i],
  ['VALIDATION', /invalid|validation|required|expected|must be|malformed|parse/i],
  ['NETWORK', /network|connect|ECONN|socket|unreachable|dns|\b50[234]\b/i],
];

export function classifyError(message: string): ErrorType {
  return WORDINGS.find(([, wording]) => wording.test(message))?.[0] ?? 'UNKNOWN';
}

type Texts = Pick<
  ExecutionTrace,
  'intentText' | 'errorMessage' | 'code' | 'decisions' | 'taskResults' | 'guest' | 'events'
>;

type Redact = (value: unknown) => unknown;

/** Piece by piece as it is recorded, so that what is clean stays as it is. */
export function redactTrace<T extends Texts>(trace: T, redact: Redact): T {
  const text = (value: string | null) => (value === null ? null : String(redact(value)));
  return {
    ...trace,
    intentText: text(trace.intentText),
    errorMessage: text(trace.errorMessage),
    code: text(trace.code),
    decisions: trace.decisions.map((decision) => redact(decision)),
    taskResults: trace.taskResults.map((result) => redact(result)),
    guest: trace.guest && { ...trace.guest, args: redact(trace.guest.args) },
    events: trace.events.map((event) => redactEvent(event, redact)),
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
