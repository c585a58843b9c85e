import { deriveTrace } from '../core/tracing/derive-trace.ts';
import { createRecorder, type Recorder } from '../core/tracing/recorder.ts';
import type { ExecutionTrace, GuestConditions, RunOrigin } from '../core/vocabulary/execution-trace.ts';
import type { Ownership } from '../core/vocabulary/principal.ts';
import { type ErrorType, isEnd, toWire } from '../core/vocabulary/trace-event.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { TraceQueue } from './trace-queue.ts';

export interface RunHead extends Ownership {
  readonly runId: string;
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
}

export interface RunEnd {
  readonly status: string;
  readonly success: boolean;
  readonly errorMessage?: string | undefined;
  /** Absent: that of the last call that failed. */
  readonly errorType?: ErrorType;
  readonly taskResults?: readonly unknown[];
  readonly decisions?: readonly unknown[];
  readonly capabilityId?: string | null;
  /** The program, for a run of code. */
  readonly code?: string;
  readonly guest?: GuestConditions;
}

/** One run: its recorder, and what becomes of it when it ends. */
export interface Run extends RunHead {
  readonly recorder: Recorder;
  /** On the monotonic clock, in milliseconds. */
  readonly startedTs: number;
  /** Answers the id of the trace, stored soon; null when nothing of the run is to be kept. */
  finish(end: RunEnd): string | null;
  /** The same, and resolves when the trace is committed. A run of code is kept even if it called nothing. */
  finishStored(end: RunEnd): Promise<string | null>;
}

/** How |TD error| starts out, before a model has seen the trace. */
const INITIAL_PRIORITY = 0.5;

export function startRun(ports: FlowPorts, traces: TraceQueue, head: RunHead): Run {
  traces.admit();
  const { clock, crypto, events, logger, redact } = ports;
  const startedAt = clock.now();
  const startedTs = clock.monotonic();
  const recorder = createRecorder({
    now: clock.monotonic,
    newId: crypto.randomUuid,
    redact,
    onEvent: (event) => events.emit({ type: 'trace_event', run_id: head.runId, event: toWire(event) }),
  });
  const { runId: run_id, sessionId: session_id, origin, owner, visibility } = head;
  const intent = head.intent === null ? null : String(redact(head.intent));
  events.emit({ type: 'run_started', run_id, session_id, origin, intent, owner, visibility });

  return {
    ...head,
    recorder,
    startedTs,
    finish(end) {
      const trace = traceOf(end);
      try {
        if (trace) traces.add(trace);
        tellFinished(end, trace);
        return trace?.id ?? null;
      } catch (error) {
        return withoutTrace(end, error);
      }
    },
    async finishStored(end) {
      const trace = traceOf(end);
      try {
        if (trace) await traces.store(trace);
        tellFinished(end, trace);
        return trace?.id ?? null;
      } catch (error) {
        return withoutTrace(end, error);
      }
    },
  };

  /** What the run did is done: its answer must not be lost with its trace. */
  function withoutTrace(end: RunEnd, error: unknown): null {
    logger.log('error', 'A trace cannot be stored', { run_id: head.runId, error: String(error) });
    tellFinished(end, null);
    return null;
  }

  function traceOf(end: RunEnd): ExecutionTrace | null {
    if (recorder.events.length === 0 && end.code === undefined) return null;
    const { executedPath, toolInvocations } = deriveTrace(recorder.events);
    return {
      id: crypto.randomUuid(),
      runId: head.runId,
      sessionId: head.sessionId,
      origin: head.origin,
      owner: head.owner,
      visibility: head.visibility,
      capabilityId: end.capabilityId ?? null,
      intentText: intent,
      intentEmbedding: null,
      embeddingModel: null,
      executedAt: startedAt,
      success: end.success,
      durationMs: clock.monotonic() - startedTs,
      errorMessage: end.errorMessage === undefined ? null : String(redact(end.errorMessage)),
      errorType: end.success ? null : (end.errorType ?? lastErrorType(recorder)),
      executedPath,
      toolInvocations,
      decisions: end.decisions ?? [],
      taskResults: (end.taskResults ?? []).map(redact),
      priority: INITIAL_PRIORITY,
      events: recorder.events,
      code: end.code === undefined ? null : String(redact(end.code)),
      guest: end.guest ? { ...end.guest, args: redact(end.guest.args) } : null,
    };
  }

  function tellFinished({ status }: RunEnd, trace: ExecutionTrace | null): void {
    events.emit({
      type: 'run_finished',
      run_id: head.runId,
      trace_id: trace?.id ?? null,
      status,
      duration_ms: clock.monotonic() - startedTs,
    });
  }
}

function lastErrorType(recorder: Recorder): ErrorType {
  const failed = recorder.events.findLast((event) => isEnd(event) && !event.success);
  return (failed && isEnd(failed) && failed.errorType) || 'UNKNOWN';
}
