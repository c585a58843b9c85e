import type { NodeId } from '../vocabulary/ids.ts';
import { kindOf } from '../vocabulary/ids.ts';
import type { EndEvent, ErrorType, StartEvent, TraceEvent } from '../vocabulary/trace-event.ts';

export interface CallEnd {
  readonly success: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly errorType?: ErrorType;
}

export interface OpenCall {
  readonly traceId: string;
  end(outcome: CallEnd): void;
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

/** Collects the events of one run. The parent is given by whoever calls, never guessed from a stack. */
export interface Recorder {
  readonly events: readonly TraceEvent[];
  start(node: NodeId, parentTraceId: string | null, args?: unknown): OpenCall;
}

export function createRecorder({ now, newId, redact, onEvent }: RecorderOptions): Recorder {
  const events: TraceEvent[] = [];
  const origin = now();
  const add = (event: TraceEvent) => {
    events.push(event);
    onEvent?.(event);
  };
  return {
    events,
    start(node, parentTraceId, args) {
      const prefix = kindOf(node) === 'capability' ? 'capability' : 'tool';
      const base = { traceId: newId(), parentTraceId, node };
      const startTs = now() - origin;
      add({
        ...base,
        type: `${prefix}_start` as StartEvent['type'],
        ts: startTs,
        ...(args !== undefined && { args: redact(args) }),
      });
      return {
        traceId: base.traceId,
        end({ success, result, error, errorType }) {
          const ts = now() - origin;
          add({
            ...base,
            type: `${prefix}_end` as EndEvent['type'],
            ts,
            success,
            durationMs: ts - startTs,
            ...(error !== undefined && { error: String(redact(error)) }),
            ...(errorType !== undefined && { errorType }),
            ...(result !== undefined && { result: redact(result) }),
          });
        },
      };
    },
  };
}
