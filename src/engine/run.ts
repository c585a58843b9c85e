import { deriveTrace } from '../core/tracing/derive-trace.ts';
import { createRecorder, type Recorder } from '../core/tracing/recorder.ts';
import type { ExecutionTrace } from '../core/vocabulary/execution-trace.ts';
import { type ErrorType, isEnd, toWire } from '../core/vocabulary/trace-event.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { TraceQueue } from './trace-queue.ts';

export interface RunHead {
  readonly runId: string;
  readonly sessionId: string | null;
  readonly intent: string | null;
}

export interface RunEnd {
  readonly status: string;
  readonly success: boolean;
  readonly errorMessage?: string | undefined;
  readonly taskResults?: readonly unknown[];
}

/** One run: its recorder, and what becomes of it when it ends. */
export interface Run extends RunHead {
  readonly recorder: Recorder;
  /** Answers the id of the trace, or null when nothing of the run is to be kept. */
  finish(end: RunEnd): string | null;
}

/** How |TD error| starts out, before a model has seen the trace. */
const INITIAL_PRIORITY = 0.5;

export function startRun(ports: FlowPorts, traces: TraceQueue, head: RunHead): Run {
  const { clock, crypto, events, redact } = ports;
  const startedAt = clock.now();
  const startedTs = clock.monotonic();
  const recorder = createRecorder({
    now: clock.monotonic,
    newId: crypto.randomUuid,
    redact,
    onEvent: (event) => events.emit({ type: 'trace_event', run_id: head.runId, event: toWire(event) }),
  });
  events.emit({ type: 'run_started', run_id: head.runId, session_id: head.sessionId, intent: head.intent });

  return {
    ...head,
    recorder,
    finish({ status, success, errorMessage, taskResults = [] }) {
      const durationMs = clock.monotonic() - startedTs;
      const isKept = recorder.events.length > 0;
      const traceId = isKept ? crypto.randomUuid() : null;
      if (traceId !== null) {
        const { executedPath, toolInvocations } = deriveTrace(recorder.events);
        const trace: ExecutionTrace = {
          id: traceId,
          runId: head.runId,
          sessionId: head.sessionId,
          capabilityId: null,
          intentText: head.intent === null ? null : String(redact(head.intent)),
          intentEmbedding: null,
          embeddingModel: null,
          executedAt: startedAt,
          success,
          durationMs,
          errorMessage: errorMessage === undefined ? null : String(redact(errorMessage)),
          errorType: success ? null : lastErrorType(recorder),
          executedPath,
          toolInvocations,
          decisions: [],
          taskResults: taskResults.map(redact),
          priority: INITIAL_PRIORITY,
          events: recorder.events,
          code: null,
          guest: null,
        };
        traces.add(trace);
      }
      events.emit({
        type: 'run_finished',
        run_id: head.runId,
        trace_id: traceId,
        status,
        duration_ms: durationMs,
      });
      return traceId;
    },
  };
}

function lastErrorType(recorder: Recorder): ErrorType {
  const failed = recorder.events.findLast((event) => isEnd(event) && !event.success);
  return (failed && isEnd(failed) && failed.errorType) || 'UNKNOWN';
}
