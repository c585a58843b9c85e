import type { Generated } from 'kysely';

/**
 * The tables, for kysely. Free-form payloads are `json`, not `jsonb`: `json` preserves every character (jsonb
 * refuses NUL and lone surrogates, which real tool results contain) and the key order.
 */
export interface Database {
  upstream_server: { name: string; settings_hash: string; identity: unknown; refreshed_at: Date };
  tool_schema: {
    tool_id: string;
    server_id: string;
    name: string;
    description: string;
    input_schema: unknown;
    output_schema: unknown;
    annotations: unknown;
    definition_hash: string;
    retired: boolean;
    /** A definition that differs from the accepted one and awaits approval. */
    proposed: unknown;
    /** JSON schema of its observed outputs. */
    observed_output: unknown;
  };
  suggestion: {
    seq: Generated<number>;
    id: string;
    session_id: string | null;
    intent_text: string;
    plan: unknown;
    confidence: number;
    created_at: Date;
    verdict: Generated<string | null>;
    run_id: Generated<string | null>;
    outcome: Generated<unknown>;
  };
  tool_embedding: { tool_id: string; model: string; definition_hash: string; embedding: Uint8Array };
  tool_dependency: EdgeTable;
  capability_dependency: EdgeTable;
  /** Edges learned from deleted traces. */
  rollup_edge: EdgeTable;
  rollup_statistics: StatisticsTable;
  /** One row. */
  rollup_state: { traces: number };
  node_statistics: StatisticsTable;
  /** One row. */
  graph_state: { cursor: number; generation: number };
  workflow_pattern: {
    pattern_id: string;
    slug: string;
    aliases: string[];
    description: string;
    code_hash: string;
    code_snippet: string;
    parameters_schema: unknown;
    output_schema: unknown;
    dag_structure: unknown;
    state: string;
    usage_count: number;
    success_count: number;
    revision: number;
    created_at: Date;
    updated_at: Date;
  };
  execution_trace: {
    seq: Generated<number>;
    id: string;
    run_id: string;
    session_id: string | null;
    /** `agent`, `self` or `replay`. */
    origin: string;
    capability_id: string | null;
    intent_text: string | null;
    intent_embedding: Uint8Array | null;
    clause_embeddings: Uint8Array | null;
    embedding_model: string | null;
    executed_at: Date;
    success: boolean;
    duration_ms: number;
    error_message: string | null;
    error_type: string | null;
    executed_path: string[];
    tool_invocations: unknown;
    decisions: unknown;
    task_results: unknown;
    priority: number;
    events: unknown;
    code_snippet: string | null;
    guest: unknown;
    owner: string | null;
    visibility: string;
    /** What a person said of it; null: nobody did. */
    verdict: Generated<unknown>;
  };
  /** Calls of tools, one each. Maintained by triggers. */
  trace_call: {
    /** Of the trace. */
    executed_at: Date;
    /** Its `seq`. */
    trace: number;
    /** In order of start, from 1. */
    place: number;
    call_id: string;
    node: string;
    began_ms: number;
    duration_ms: number | null;
    success: boolean;
    error_type: string | null;
    /** The beginning of the message. */
    error: string | null;
    /** Bytes of JSON; null where it is not recorded. */
    sent: number | null;
    received: number | null;
    owner: string | null;
    visibility: string;
  };
  /** Ids of all traces, and the month of each. Maintained by triggers. */
  trace_key: { id: string; seq: number; executed_at: Date };
  /** Traces by the tools and servers in their path (`name_key`). Maintained by triggers. */
  trace_use: { name: number; trace: number; executed_at: Date };
  /** Row counts; maintained by triggers. */
  tally: { name: string; count: number };
  episodic_events: {
    seq: Generated<number>;
    id: string;
    workflow_id: string;
    event_type: string;
    task_id: string | null;
    timestamp: Date;
    data: unknown;
  };
  workflow_run: {
    seq: Generated<number>;
    id: string;
    session_id: string | null;
    /** `agent`, `self` or `replay`. */
    origin: string;
    intent_text: string | null;
    plan: unknown;
    status: string;
    version: number;
    created_at: Date;
    updated_at: Date;
    kind: string;
    /** The process that runs it; null if none does. */
    lease_owner: string | null;
    lease_until: Date | null;
    owner: string | null;
    visibility: string;
    /** The key, and the scope that it had then. */
    begun_with: unknown;
  };
  workflow_task: { run_id: string; task_id: string; state: unknown };
  approval: {
    seq: Generated<number>;
    id: string;
    run_id: string;
    node: string;
    arguments_hash: string;
    arguments: unknown;
    reason: string;
    state: string;
    requested_at: Date;
    settled_at: Date | null;
    settled_by: string | null;
  };
  api_key: {
    seq: Generated<number>;
    id: string;
    name: string;
    user_name: string;
    role: string;
    /** SHA-256 in hex. */
    hash: string;
    created_at: Date;
    created_by: string;
    revoked_at: Date | null;
    revoked_by: string | null;
    /** Null: everything that its role allows. */
    scope: unknown;
  };
  /** What a key has used in one window, reserved amounts included. */
  key_usage: {
    key_id: string;
    /** `minute`, `hour` or `day`; `last`: its only row of this kind, and when it was last used. */
    span: string;
    started_at: Date;
    calls: number;
    tokens: number;
    seconds: number;
  };
  audit_log: {
    seq: Generated<number>;
    at: Date;
    actor: string;
    action: string;
    subject: string;
    hash: string | null;
    details: unknown;
  };
  oauth_record: {
    seq: Generated<number>;
    kind: string;
    /** Of codes and tokens the SHA-256, in hex. */
    id: string;
    grant_id: string | null;
    payload: unknown;
    expires_at: Date;
    consumed_at: Date | null;
  };
  ranker_params: {
    seq: Generated<number>;
    id: string;
    model: string;
    params: Uint8Array;
    metrics: unknown;
    created_at: Date;
  };
  /** Change notifications between gateways on one store; only the newest rows are kept. */
  store_change: { seq: Generated<number>; topic: string; key: string; origin: string };
}

interface EdgeTable {
  from_node: string;
  to_node: string;
  edge_type: string;
  edge_source: string;
  observed_count: number;
  invocation_count: number;
  /** Milliseconds since 1970. */
  last_seen_at: number | null;
  value_paths: unknown;
}

interface StatisticsTable {
  node: string;
  runs: number;
  calls: number;
  failures: number;
  repeats: number;
  repeat_runs: number;
  last_seen_at: number | null;
}
