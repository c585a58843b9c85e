/**
 * W3C Trace Context, as MCP requests carry it in `_meta` (SEP-414): to which span of which distributed trace a request
 * belongs.
 */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A `traceparent`, taken apart. */
export interface ParentSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: the trace is recorded. */
  readonly flags: number;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ZEROS = /^0+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SAMPLED = 1;

/** Null if it is not a valid `traceparent`. */
export function parentSpanOf(traceparent: unknown): ParentSpan | null {
  if (typeof traceparent !== 'string') return null;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === '' || ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** The trace of a run that no client has put into one; null where the caller named the run in another way. */
export function traceIdOf(runId: string): string | null {
  return UUID.test(runId) ? runId.replaceAll('-', '') : null;
}

/** The span of a call, by its id: its second half, where a random UUID is never zero. */
export function spanIdOf(callId: string): string | null {
  return UUID.test(callId) ? callId.replaceAll('-', '').slice(16) : null;
}

/** What a call sends to its server so that the server's spans become children of its own. */
export function contextOfCall(
  runId: string,
  callId: string | null,
  outer: TraceContext | undefined,
): TraceContext | null {
  const parent = outer ? parentSpanOf(outer.traceparent) : null;
  const traceId = parent?.traceId ?? traceIdOf(runId);
  const spanId = callId === null ? null : spanIdOf(callId);
  if (traceId === null || spanId === null) return outer ?? null;
  const flags = (parent?.flags ?? SAMPLED).toString(16).padStart(2, '0');
  const state = outer?.tracestate === undefined ? {} : { tracestate: outer.tracestate };
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...state };
}
