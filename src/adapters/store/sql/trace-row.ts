import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import {
  type ExecutionTrace,
  guestFromWire,
  guestToWire,
  invocationFromWire,
  invocationToWire,
  type RunKind,
  type RunOrigin,
  type RunVerdict,
  type WireGuest,
  type WireInvocation,
} from '../../../core/vocabulary/execution-trace.ts';
import type { NodeId } from '../../../core/vocabulary/ids.ts';
import type { Visibility } from '../../../core/vocabulary/principal.ts';
import {
  type ErrorType,
  fromWire,
  toWire,
  type WireTraceEvent,
} from '../../../core/vocabulary/trace-event.ts';
import type { RecalledRun, TraceQuery } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { bytesToVector, bytesToVectors, isVisible, json, text, textOrNull, vectorToBytes } from './codec.ts';

type Condition = RawBuilder<SqlBool>;

export type WantedTraces = Omit<TraceQuery, 'limit' | 'before' | 'byTime'>;

/** The same distinction as `runKindOf`, on columns. */
const OF_KIND: Readonly<Record<RunKind, Condition>> = {
  capability: sql<SqlBool>`capability_id is not null`,
  code: sql<SqlBool>`capability_id is null and code_snippet is not null`,
  workflow: sql<SqlBool>`capability_id is null and code_snippet is null and json_array_length(task_results) > 0`,
  tool: sql<SqlBool>`capability_id is null and code_snippet is null and json_array_length(task_results) = 0`,
};

/** One condition per filter; texts are compared literally, never as patterns. */
const CONDITIONS: {
  readonly [K in keyof WantedTraces]-?: (value: NonNullable<WantedTraces[K]>) => Condition;
} = {
  sessionId: (id) => sql<SqlBool>`session_id = ${text(id)}`,
  capabilityId: (id) => sql<SqlBool>`capability_id = ${text(id)}`,
  runId: (id) => sql<SqlBool>`run_id = ${text(id)}`,
  kind: (kind) => OF_KIND[kind],
  success: (success) => sql<SqlBool>`success = ${success}`,
  since: (since) => sql<SqlBool>`executed_at >= ${since}`,
  until: (until) => sql<SqlBool>`executed_at < ${until}`,
  node: (node) => sql<SqlBool>`${text(node)} = any(executed_path)`,
  server: (server) =>
    sql<SqlBool>`exists (select from unnest(executed_path) as node where starts_with(node, ${text(`${server}:`)}))`,
  text: (part) => sql<SqlBool>`strpos(lower(intent_text), lower(${text(part)})) > 0`,
  visibleTo: (user) => isVisible(user),
};

export function traceToRow(trace: ExecutionTrace) {
  return {
    id: trace.id,
    run_id: trace.runId,
    session_id: textOrNull(trace.sessionId),
    origin: trace.origin,
    capability_id: trace.capabilityId,
    intent_text: textOrNull(trace.intentText),
    intent_embedding: trace.intentEmbedding ? vectorToBytes(trace.intentEmbedding) : null,
    embedding_model: trace.embeddingModel,
    executed_at: trace.executedAt,
    success: trace.success,
    duration_ms: trace.durationMs,
    error_message: textOrNull(trace.errorMessage),
    error_type: trace.errorType,
    executed_path: trace.executedPath.map(text),
    tool_invocations: json(trace.toolInvocations.map(invocationToWire)),
    decisions: json(trace.decisions),
    task_results: json(trace.taskResults),
    priority: trace.priority,
    events: json(trace.events.map(toWire)),
    code_snippet: textOrNull(trace.code),
    guest: json(trace.guest && guestToWire(trace.guest)),
    owner: textOrNull(trace.owner),
    visibility: trace.visibility,
    verdict: json(trace.verdict),
  };
}

/** Whether reading it back gives the same: no text of it has to be changed for PostgreSQL. */
export function isStoredAsGiven(trace: ExecutionTrace): boolean {
  const { sessionId, intentText, errorMessage, code, owner, executedPath } = trace;
  const texts = [sessionId, intentText, errorMessage, code, owner, ...executedPath];
  return texts.every((each) => textOrNull(each) === each);
}

export function traceFromRow(row: Selectable<Database['execution_trace']>): ExecutionTrace {
  return {
    id: row.id,
    runId: row.run_id,
    sessionId: row.session_id,
    origin: row.origin as RunOrigin,
    capabilityId: row.capability_id,
    intentText: row.intent_text,
    intentEmbedding: row.intent_embedding ? bytesToVector(row.intent_embedding) : null,
    embeddingModel: row.embedding_model,
    executedAt: row.executed_at,
    success: row.success,
    durationMs: row.duration_ms,
    errorMessage: row.error_message,
    errorType: row.error_type as ErrorType | null,
    executedPath: row.executed_path as NodeId[],
    toolInvocations: (row.tool_invocations as WireInvocation[]).map(invocationFromWire),
    decisions: row.decisions as unknown[],
    taskResults: row.task_results as unknown[],
    priority: row.priority,
    events: (row.events as WireTraceEvent[]).map(fromWire),
    code: row.code_snippet,
    guest: row.guest === null ? null : guestFromWire(row.guest as WireGuest),
    owner: row.owner,
    visibility: row.visibility as Visibility,
    ...verdictOf(row),
  };
}

/** Absent where nobody said anything. */
function verdictOf({ verdict }: { readonly verdict: unknown }): Pick<ExecutionTrace, 'verdict'> {
  return verdict === null ? {} : { verdict: verdict as RunVerdict };
}

/** The columns of a trace that the ranker uses. */
export const RECALLED = [
  'id',
  'run_id',
  'session_id',
  'origin',
  'intent_text',
  'intent_embedding',
  'clause_embeddings',
  'embedding_model',
  'executed_path',
  'tool_invocations',
  'success',
  'visibility',
  'capability_id',
  'executed_at',
  'duration_ms',
  'guest',
  'owner',
  'verdict',
] as const;

export function recalledFromRow(
  row: Pick<Selectable<Database['execution_trace']>, (typeof RECALLED)[number]>,
  model: string,
): RecalledRun {
  const isKnown = row.embedding_model === model && row.intent_embedding !== null;
  const intent = isKnown ? bytesToVector(row.intent_embedding!) : null;
  return {
    id: row.id,
    runId: row.run_id,
    sessionId: row.session_id,
    origin: row.origin as RunOrigin,
    intentText: row.intent_text!,
    intent,
    clauses: intent && row.clause_embeddings ? bytesToVectors(row.clause_embeddings, intent.length) : null,
    executedPath: row.executed_path as NodeId[],
    toolInvocations: (row.tool_invocations as WireInvocation[]).map(invocationFromWire),
    success: row.success,
    visibility: row.visibility as Visibility,
    capabilityId: row.capability_id,
    executedAt: row.executed_at,
    durationMs: row.duration_ms,
    guest: row.guest === null ? null : guestFromWire(row.guest as WireGuest),
    owner: row.owner,
    ...verdictOf(row),
  };
}

export function traceConditions(wanted: WantedTraces): Condition[] {
  const given = Object.entries(wanted) as [keyof WantedTraces, never][];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [CONDITIONS[name](value)]));
}

/** The name to look up in `trace_use`: a tool rather than its server, because fewer traces have it. */
export function nameToLookUp({ node, server }: WantedTraces): string | null {
  if (node !== undefined) return node;
  return server === undefined ? null : `${server}:`;
}
