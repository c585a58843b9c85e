import type { NodeId } from './ids.ts';
import type { Ownership } from './principal.ts';
import { type ErrorType, type TraceEvent, toWire } from './trace-event.ts';

/** One call of a run, in order of start: `filesystem:read_file#0` is the first call of that tool. */
export interface ToolInvocation {
  readonly id: string;
  readonly tool: NodeId;
  readonly ts: number;
  readonly durationMs: number;
  readonly sequenceIndex: number;
  readonly success: boolean;
  /** Ids of the invocations whose time overlapped with this one. */
  readonly parallelWith: readonly string[];
}

/**
 * Who chose what ran: `agent`, the agent or person who asked for these very calls; `self`, PML for an intent alone;
 * `replay`, PML to see whether a program works again; `fork`, somebody who went on from a step of another run.
 */
export const RUN_ORIGINS = ['agent', 'self', 'replay', 'fork'] as const;
export type RunOrigin = (typeof RUN_ORIGINS)[number];

/** What a person said of a run afterwards. */
export interface RunVerdict {
  readonly good: boolean;
  readonly reason: string | null;
  readonly by: string;
  /** As ISO 8601. */
  readonly at: string;
}

type Outcome = Pick<ExecutionTrace, 'origin' | 'success' | 'verdict'>;

/**
 * Success of a run that PML started itself says nothing about what people want, unless a person says so; its failure
 * does count. A fork says nothing either way: its past was another run's, and may have been edited.
 */
export function isEvidence({ origin, success, verdict }: Outcome): boolean {
  return origin === 'agent' || (origin !== 'fork' && (!success || verdict !== undefined));
}

/** Whether a run did what was wanted: a person's word counts, and without one that it ended well. */
export function wasGood({ success, verdict }: Pick<Outcome, 'success' | 'verdict'>): boolean {
  return verdict?.good ?? success;
}

/** One run. Everything except the head fields is derived from `events`, in `deriveTrace`. */
export interface ExecutionTrace extends Ownership {
  readonly id: string;
  readonly runId: string;
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly capabilityId: string | null;
  readonly intentText: string | null;
  readonly intentEmbedding: Float32Array | null;
  /** Id of the embedding model that made `intentEmbedding`; vectors of two models never mix. */
  readonly embeddingModel: string | null;
  readonly executedAt: Date;
  readonly success: boolean;
  readonly durationMs: number;
  readonly errorMessage: string | null;
  readonly errorType: ErrorType | null;
  readonly executedPath: readonly NodeId[];
  readonly toolInvocations: readonly ToolInvocation[];
  readonly decisions: readonly unknown[];
  readonly taskResults: readonly unknown[];
  /** Sampling priority of prioritized replay, |TD error|; 0.5 until a model has seen the trace. */
  readonly priority: number;
  readonly events: readonly TraceEvent[];
  /** The program that ran, redacted; null when the run was not code. */
  readonly code: string | null;
  /** What the program read besides its arguments and results, so that a replay is exact. */
  readonly guest: GuestConditions | null;
  /** Absent: nobody said anything. */
  readonly verdict?: RunVerdict;
}

export interface GuestConditions {
  /** Seed of the program's random numbers. */
  readonly seed: string;
  /** First reading of the program's clock, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The program's `args`, redacted. */
  readonly args?: unknown;
  /**
   * By the place of a call in its program (`#0`, `#1#0` within what the second call entered): when it was answered, in
   * milliseconds after `startedAt`, and the code of the error if it failed. Absent in traces from before it was kept.
   */
  readonly answers?: GuestAnswers;
  /** Earlier results that the program read again, by the place of the call; absent: none. */
  readonly results?: GuestResults;
}

export type GuestResults = Readonly<Record<string, GuestResult>>;

/** The reply when a result was read, redacted; without `reply`, it must not be stored. */
export interface GuestResult {
  readonly id: string;
  readonly reply?:
    | { readonly ok: true; readonly value: unknown }
    | { readonly ok: false; readonly code: string; readonly message: string };
}

export type GuestAnswers = Readonly<Record<string, readonly [at: number, code?: string]>>;

/** Tools and operations, without repeats, in order of first use. */
export function toolsUsedIn({ toolInvocations }: Pick<ExecutionTrace, 'toolInvocations'>): readonly NodeId[] {
  return [...new Set(toolInvocations.map(({ tool }) => tool))];
}

/** What was run: one tool, a program, a capability, or a plan of tasks. */
export const RUN_KINDS = ['tool', 'code', 'capability', 'workflow'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** A program has its text, a plan its tasks. */
export function runKindOf(
  trace: Pick<ExecutionTrace, 'capabilityId' | 'code'> & { readonly taskResults: readonly unknown[] },
): RunKind {
  if (trace.capabilityId !== null) return 'capability';
  if (trace.code !== null) return 'code';
  return trace.taskResults.length > 0 ? 'workflow' : 'tool';
}

/** Longest `tools_sequence` that is listed; counts remain exact for longer runs. */
export const TOOLS_SEQUENCE_LIMIT = 500;

/** A `ToolInvocation` on the wire and in storage. */
export interface WireInvocation {
  readonly id: string;
  readonly tool: string;
  readonly ts: number;
  readonly duration_ms: number;
  readonly sequence_index: number;
  readonly success: boolean;
  readonly parallel_with: readonly string[];
}

export function invocationToWire(call: ToolInvocation): WireInvocation {
  const { id, tool, ts, success } = call;
  return {
    id,
    tool,
    ts,
    duration_ms: call.durationMs,
    sequence_index: call.sequenceIndex,
    success,
    parallel_with: call.parallelWith,
  };
}

export function invocationFromWire(wire: WireInvocation): ToolInvocation {
  const { id, tool, ts, success } = wire;
  return {
    id,
    tool: tool as NodeId,
    ts,
    durationMs: wire.duration_ms,
    sequenceIndex: wire.sequence_index,
    success,
    parallelWith: wire.parallel_with,
  };
}

export interface WireGuest {
  readonly seed: string;
  readonly started_at: number;
  readonly args?: unknown;
  readonly answers?: GuestAnswers;
  readonly results?: GuestResults;
}

export function guestToWire({ startedAt, ...rest }: GuestConditions): WireGuest {
  return { started_at: startedAt, ...rest };
}

export function guestFromWire({ started_at, ...rest }: WireGuest): GuestConditions {
  return { startedAt: started_at, ...rest };
}

/** A whole trace as programs see it: snake_case, dates as text, the intent's vector left out. */
export function traceToWire(trace: ExecutionTrace) {
  return {
    id: trace.id,
    run_id: trace.runId,
    kind: runKindOf(trace),
    session_id: trace.sessionId,
    origin: trace.origin,
    owner: trace.owner,
    visibility: trace.visibility,
    capability_id: trace.capabilityId,
    intent_text: trace.intentText,
    executed_at: trace.executedAt.toISOString(),
    success: trace.success,
    duration_ms: trace.durationMs,
    error_message: trace.errorMessage,
    error_type: trace.errorType,
    executed_path: trace.executedPath,
    tool_invocations: trace.toolInvocations.map(invocationToWire),
    decisions: trace.decisions,
    task_results: trace.taskResults,
    priority: trace.priority,
    verdict: trace.verdict ?? null,
    code: trace.code,
    guest: trace.guest && guestToWire(trace.guest),
    events: trace.events.map(toWire),
  };
}

/** The same without calls, events and program, for lists. */
export function traceSummaryToWire(trace: ExecutionTrace) {
  const {
    events: _events,
    tool_invocations: _calls,
    code: _code,
    guest: _guest,
    ...head
  } = traceToWire(trace);
  return head;
}
