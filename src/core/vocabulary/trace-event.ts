import type { NodeId } from './ids.ts';

/** The six ways a call fails; anything unrecognised is UNKNOWN, never dropped. */
export const ERROR_TYPES = [
  'TIMEOUT',
  'PERMISSION',
  'NOT_FOUND',
  'VALIDATION',
  'NETWORK',
  'UNKNOWN',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

interface EventBase {
  readonly traceId: string;
  /** Null at the root of the run. */
  readonly parentTraceId: string | null;
  readonly node: NodeId;
  /** Monotonic within a run, in milliseconds with fraction. */
  readonly ts: number;
}

export interface StartEvent extends EventBase {
  readonly type: 'tool_start' | 'capability_start';
  /** Redacted and size-capped before the event exists. */
  readonly args?: unknown;
  /** The W3C trace context of the request that the run came with, at the root of the run. */
  readonly traceparent?: string;
}

export interface EndEvent extends EventBase {
  readonly type: 'tool_end' | 'capability_end';
  readonly success: boolean;
  readonly durationMs: number;
  readonly error?: string;
  readonly errorType?: ErrorType;
  /** Redacted and size-capped before the event exists. */
  readonly result?: unknown;
}

export type TraceEvent = StartEvent | EndEvent;

/** A `TraceEvent` on the wire and in storage. */
export interface WireTraceEvent {
  readonly type: TraceEvent['type'];
  readonly trace_id: string;
  readonly parent_trace_id: string | null;
  readonly node: string;
  readonly ts: number;
  readonly args?: unknown;
  readonly traceparent?: string;
  readonly success?: boolean;
  readonly duration_ms?: number;
  readonly error?: string;
  readonly error_type?: ErrorType;
  readonly result?: unknown;
}

export function isEnd(event: TraceEvent): event is EndEvent {
  return event.type === 'tool_end' || event.type === 'capability_end';
}

export function toWire(event: TraceEvent): WireTraceEvent {
  const base = {
    type: event.type,
    trace_id: event.traceId,
    parent_trace_id: event.parentTraceId,
    node: event.node,
    ts: event.ts,
  };
  if (!isEnd(event)) {
    const { args, traceparent } = event;
    return {
      ...base,
      ...(args !== undefined && { args }),
      ...(traceparent !== undefined && { traceparent }),
    };
  }
  return {
    ...base,
    success: event.success,
    duration_ms: event.durationMs,
    ...(event.error !== undefined && { error: event.error }),
    ...(event.errorType !== undefined && { error_type: event.errorType }),
    ...(event.result !== undefined && { result: event.result }),
  };
}

export function fromWire(wire: WireTraceEvent): TraceEvent {
  const base = {
    traceId: wire.trace_id,
    parentTraceId: wire.parent_trace_id,
    node: wire.node as NodeId,
    ts: wire.ts,
  };
  if (wire.type === 'tool_start' || wire.type === 'capability_start') {
    const { type, args, traceparent } = wire;
    const given = { ...(args !== undefined && { args }), ...(traceparent !== undefined && { traceparent }) };
    return { ...base, type, ...given };
  }
  return {
    ...base,
    type: wire.type,
    success: wire.success ?? false,
    durationMs: wire.duration_ms ?? 0,
    ...(wire.error !== undefined && { error: wire.error }),
    ...(wire.error_type !== undefined && { errorType: wire.error_type }),
    ...(wire.result !== undefined && { result: wire.result }),
  };
}
