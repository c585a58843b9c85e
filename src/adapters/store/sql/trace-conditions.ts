import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RunKind } from '../../../core/vocabulary/execution-trace.ts';
import type { TraceQuery } from '../../../engine/ports.ts';
import { isVisible, text } from './codec.ts';

type Condition = RawBuilder<SqlBool>;
export type WantedTraces = Omit<TraceQuery, 'limit' | 'before'>;

/** The same distinction as `runKindOf`, of columns. */
const OF_KIND: Readonly<Record<RunKind, Condition>> = {
  capability: sql<SqlBool>`capability_id is not null`,
  code: sql<SqlBool>`capability_id is null and code_snippet is not null`,
  workflow: sql<SqlBool>`capability_id is null and code_snippet is null and json_array_length(task_results) > 0`,
  tool: sql<SqlBool>`capability_id is null and code_snippet is null and json_array_length(task_results) = 0`,
};

/** One condition for each thing asked for; texts are compared as texts, nothing in them is a pattern. */
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

export function traceConditions(wanted: WantedTraces): Condition[] {
  const given = Object.entries(wanted) as [keyof WantedTraces, never][];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [CONDITIONS[name](value)]));
}

/** What of the question stands in `trace_use`: a tool rather than its server, as fewer traces have it. */
export function nameToLookUp({ node, server }: WantedTraces): string | null {
  if (node !== undefined) return node;
  return server === undefined ? null : `${server}:`;
}
