import { type DerivedTrace, deriveTrace } from '../../core/tracing/derive-trace.ts';
import { createFoundSecrets } from '../../core/tracing/found-secrets.ts';
import {
  createRecorder,
  NOT_RECORDED,
  type Recorder,
  redactEvent,
  redactTrace,
} from '../../core/tracing/recorder.ts';
import type {
  ExecutionTrace,
  GuestConditions,
  GuestResults,
  RunOrigin,
} from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { Ownership } from '../../core/vocabulary/principal.ts';
import { type ErrorType, isEnd, toWire } from '../../core/vocabulary/trace-event.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Approval, ConsoleLine, JsonObject, ToolResult } from '../ports.ts';
import type { TraceQueue } from '../traces/trace-queue.ts';

export interface RunHead extends Ownership {
  readonly runId: string;
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
  /** The W3C trace context of the request that started it. */
  readonly traceparent?: string;
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
  /** The trace of a program is committed when this resolves, the others are soon. */
  finish(end: RunEnd): Promise<FinishedRun>;
}

export interface FinishedRun {
  /** Null when nothing of the run is to be kept. A run of code is kept even if it called nothing. */
  readonly traceId: string | null;
  /** Without repeats, in order of first use. */
  readonly toolsUsed: readonly NodeId[];
}

const NOTHING_KEPT: FinishedRun = { traceId: null, toolsUsed: [] };

/** How |TD error| starts out, before a model has seen the trace. */
const INITIAL_PRIORITY = 0.5;

/** For one run: what is recognised as secret in one place of it is hidden in every other. */
export function ofOneRun<S extends { readonly ports: FlowPorts }>(scope: S): S {
  const { ports } = scope;
  if (ports.found) return scope;
  const found = createFoundSecrets();
  return { ...scope, ports: { ...ports, found, redact: (value: unknown) => ports.redact(value, found) } };
}

/** `given`: what the run has to go by, looked through for secrets before anything is told of it. */
export function startRun(ports: FlowPorts, traces: TraceQueue, head: RunHead, given?: unknown): Run {
  traces.admit();
  const { clock, crypto, events, logger, redact, found } = ports;
  redact([given, head.intent]);
  const startedAt = clock.now();
  const startedTs = clock.monotonic();
  /** By event: how many secrets were known when it was redacted. */
  const knownAt: number[] = [];
  const recorder = createRecorder({
    now: clock.monotonic,
    newId: crypto.randomUuid,
    redact,
    ...(head.traceparent !== undefined && { traceparent: head.traceparent }),
    onEvent: (event) => {
      knownAt.push(found?.size ?? 0);
      events.emit({ type: 'trace_event', run_id: head.runId, event: toWire(event) });
    },
  });
  const { runId: run_id, sessionId: session_id, origin, owner, visibility } = head;
  const intent = head.intent === null ? null : String(redact(head.intent));
  events.emit({ type: 'run_started', run_id, session_id, origin, intent, owner, visibility });

  return {
    ...head,
    recorder,
    startedTs,
    async finish(end) {
      if (recorder.events.length === 0 && end.code === undefined) {
        tellFinished(end, clock.monotonic() - startedTs, null);
        return NOTHING_KEPT;
      }
      const derived = deriveTrace(recorder.events);
      const toolsUsed = derived.toolsUsed.filter((node) => kindOf(node) === 'tool');
      const trace = traceOf(end, derived);
      const kept = keep(trace, end);
      // A single call is answered before its trace is stored.
      return { traceId: trace.code === null ? trace.id : await kept, toolsUsed };
    },
  };

  /** The end of a run is told once its trace can be read: who hears of it reads it. */
  async function keep(trace: ExecutionTrace, end: RunEnd): Promise<string | null> {
    try {
      await (trace.code === null ? traces.add(trace) : traces.store(trace));
      tellFinished(end, trace.durationMs, trace.id);
      return trace.id;
    } catch (error) {
      // What the run did is done: its answer must not be lost with its trace.
      logger.log('error', 'A trace cannot be stored', { run_id: head.runId, error: String(error) });
      tellFinished(end, trace.durationMs, null);
      return null;
    }
  }

  function traceOf(end: RunEnd, { executedPath, toolInvocations }: DerivedTrace): ExecutionTrace {
    const kept = recorder.isConcealed ? withoutDerived(end) : end;
    const trace: ExecutionTrace = {
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
      errorMessage: kept.errorMessage ?? null,
      errorType: end.success ? null : (end.errorType ?? lastErrorType(recorder)),
      executedPath,
      toolInvocations,
      decisions: kept.decisions ?? [],
      taskResults: kept.taskResults ?? [],
      priority: INITIAL_PRIORITY,
      events: [],
      code: kept.code ?? null,
      guest: kept.guest ?? null,
    };
    return sealed(trace);
  }

  /** What was recognised late stands in what was redacted before: once more, where that may be. */
  function sealed(trace: ExecutionTrace): ExecutionTrace {
    const before = found?.size ?? 0;
    const once = redactTrace(trace, redact);
    const known = found?.size ?? 0;
    const clean = known > before ? redactTrace(once, redact) : once;
    const sealedEvents = recorder.events.map((event, index) =>
      knownAt[index] === known ? event : redactEvent(event, redact),
    );
    if (sealedEvents.some((event, index) => event !== recorder.events[index]))
      events.amend(head.runId, redact);
    return { ...clean, events: sealedEvents };
  }

  function tellFinished({ status }: RunEnd, duration_ms: number, trace_id: string | null): void {
    events.emit({ type: 'run_finished', run_id: head.runId, trace_id, status, duration_ms });
  }
}

/** A program has seen what is not to be kept: what it said, gave and decided may be made of it. */
function withoutDerived(end: RunEnd): RunEnd {
  return {
    ...end,
    ...(end.errorMessage !== undefined && { errorMessage: NOT_RECORDED }),
    ...(end.guest?.results && { guest: { ...end.guest, results: withoutReplies(end.guest.results) } }),
    decisions: [],
    taskResults: (end.taskResults ?? []).map((task) => {
      const { result: _, console: __, error: ___, programs: ____, ...rest } = task as Record<string, unknown>;
      return rest;
    }),
  };
}

function withoutReplies(results: GuestResults): GuestResults {
  return Object.fromEntries(Object.entries(results).map(([key, { id }]) => [key, { id }]));
}

function lastErrorType(recorder: Recorder): ErrorType {
  const failed = recorder.events.findLast((event) => isEnd(event) && !event.success);
  return (failed && isEnd(failed) && failed.errorType) || 'UNKNOWN';
}

/** What a run gave: a tool call, a program, a capability, a plan. Its failure is data. */
export interface RunResult {
  /** `decision_required`: a layer is done, and the agent says whether the run continues. */
  readonly status: 'success' | 'error' | 'approval_required' | 'decision_required' | 'running' | 'aborted';
  readonly runId: string;
  /** Of what ran just now; null where nothing of it is kept. */
  readonly traceId: string | null;
  /** What the run as a whole gave: the value of its only task, or what a program returned. */
  readonly result?: unknown;
  /** Of a single tool call: the server's own result, untouched. */
  readonly toolResult?: ToolResult;
  /** Of a program: pictures and sounds that its tools gave, as content blocks. */
  readonly media?: readonly JsonObject[];
  readonly error?: RunError;
  /** What a person was asked about the run. */
  readonly approvals: readonly Approval[];
  /** What programs wrote; of a run of one task. */
  readonly console: readonly ConsoleLine[];
  /** Without repeats, in order of first use. */
  readonly toolsUsed: readonly string[];
  /** By task: what became of it and what it gave, or why not. Empty for a single task that never had to wait. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly layers: readonly (readonly string[])[];
  /** With `decision_required`: the tasks that would run next. */
  readonly next?: readonly string[];
  /** After `replan`: what is done, as tools and other nodes in the order they ended. */
  readonly executed?: readonly string[];
}

/** With the place in the code, or the server's own error, where there is one. */
export interface RunError extends ErrorShape {
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
