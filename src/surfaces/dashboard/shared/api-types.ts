import type { EdgeSource, EdgeType } from '../../../core/vocabulary/edge.ts';
import type {
  RunKind,
  RunOrigin,
  WireGuest,
  WireInvocation,
} from '../../../core/vocabulary/execution-trace.ts';
import type { NodeKind } from '../../../core/vocabulary/ids.ts';
import type { ErrorShape, RunStatus } from '../../../core/vocabulary/pml-error.ts';
import type { Role } from '../../../core/vocabulary/principal.ts';
import type { ErrorType, WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';

/** The JSON of `/api`, as page and server both speak it. */

/** A snapshot that says where following on begins. */
export interface Snapshot {
  readonly last_event_id: string;
}

export type Right = 'read' | 'run' | 'decide' | 'manage' | 'see_all' | 'bridge';

/** Whoever asks. */
export interface Me {
  readonly name: string;
  readonly user: string;
  readonly role: Role;
  readonly rights: readonly Right[];
}

export interface Stats extends Snapshot {
  readonly servers: number;
  readonly tools: number;
  readonly capabilities: number;
  readonly traces: number;
  readonly schema_tokens: number;
  readonly exposed_tokens: number;
  readonly spared_tokens: number;
  readonly pending_approvals: number;
}

export type ServerState = 'idle' | 'starting' | 'ready' | 'backoff' | 'failed' | 'disabled';

export interface Server {
  readonly name: string;
  readonly transport: string;
  readonly state: ServerState;
  readonly since: string;
  readonly error: ErrorShape | null;
  readonly pid: number | null;
  readonly protocol_version: string | null;
  readonly tools: number;
  readonly changed_tools: readonly string[];
  readonly schema_tokens: number;
  readonly calls_in_flight: number;
  readonly calls_waiting: number;
  readonly garbage_lines: number;
}

export interface Servers extends Snapshot {
  readonly servers: readonly Server[];
}

export interface Activity {
  /** Oldest first; hours without runs are left out. */
  readonly hours: readonly { readonly hour: string; readonly runs: number; readonly successes: number }[];
}

export interface SearchHit {
  readonly tool_id: string;
  readonly server_id: string;
  readonly description: string;
  readonly input_schema: unknown;
  readonly signature?: string;
  readonly semantic_score: number;
  readonly graph_score: number;
  readonly final_score: number;
  readonly parts: {
    readonly whole: number;
    readonly clause: number;
    readonly lexical: number;
    readonly name: number;
    readonly alpha: number;
    readonly learned?: number;
    readonly learned_share?: number;
  };
  readonly reasons?: {
    readonly parts: readonly { readonly name: string; readonly moved: number }[];
    readonly runs: readonly { readonly intent: string; readonly similarity: number }[];
  };
  readonly related_tools: readonly {
    readonly tool_id: string;
    readonly relation: 'often_before' | 'often_after' | 'used_together';
    readonly score: number;
  }[];
}

export interface GraphNode {
  readonly id: string;
  readonly kind: NodeKind;
  readonly label: string;
  readonly server: string | null;
  /** By Louvain. */
  readonly community: number;
  /** By spectral co-clustering; null for what no capability uses. */
  readonly cluster: number | null;
  readonly pagerank: number;
  readonly tools_used?: readonly string[];
  readonly capabilities_used?: readonly string[];
  readonly tools_sequence?: readonly string[];
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly edge_type: EdgeType;
  readonly edge_source: EdgeSource;
  readonly weight: number;
  readonly observed_count: number;
  readonly invocation_count: number;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNodeDetails {
  readonly id: string;
  readonly kind: NodeKind;
  readonly label: string;
  readonly server: string | null;
  readonly description: string | null;
  /** JSON Schemas; null where nothing is known. */
  readonly input_schema: unknown;
  readonly output_schema: unknown;
  readonly statistics: {
    readonly runs: number;
    readonly calls: number;
    readonly failures: number;
    readonly repeats: number;
    readonly last_seen_at: string | null;
  };
  readonly edges: readonly GraphEdge[];
  readonly related: readonly {
    readonly id: string;
    readonly relation: 'often_before' | 'often_after' | 'used_together';
    readonly score: number;
  }[];
}

export interface GraphPath {
  readonly from: string;
  readonly to: string;
  /** Null when no path leads there. */
  readonly cost: number | null;
  readonly nodes: readonly string[];
  readonly steps: readonly (GraphEdge & { readonly cost: number; readonly explanation: string })[];
  readonly explanation: string;
}

export interface TraceSummary {
  readonly id: string;
  readonly run_id: string;
  readonly kind: RunKind;
  readonly session_id: string | null;
  readonly origin: RunOrigin;
  readonly capability_id: string | null;
  readonly intent_text: string | null;
  readonly executed_at: string;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly error_message: string | null;
  readonly error_type: ErrorType | null;
  readonly executed_path: readonly string[];
  readonly decisions: readonly unknown[];
  readonly task_results: readonly unknown[];
  readonly priority: number;
}

export interface Traces {
  readonly traces: readonly TraceSummary[];
  /** What to give as `before` for the next page. */
  readonly next: string | null;
}

export interface Trace extends TraceSummary {
  readonly tool_invocations: readonly WireInvocation[];
  readonly code: string | null;
  readonly guest: WireGuest | null;
  readonly events: readonly WireTraceEvent[];
  readonly value_flow: readonly {
    readonly from: string;
    readonly to: string;
    readonly from_path: string;
    readonly to_path: string;
    readonly from_trace_id: string;
    readonly to_trace_id: string;
  }[];
  /** Which call directly followed which of the same parent. */
  readonly follows: readonly {
    readonly from_trace_id: string;
    readonly to_trace_id: string;
    /** Only when the operations between the two are looked through. */
    readonly past_operations: boolean;
  }[];
}

export interface Approval {
  readonly approval_id: string;
  readonly run_id: string;
  readonly node: string;
  readonly arguments: unknown;
  /** Whether these are all of the call's; absent for who may not decide. */
  readonly is_exact?: boolean;
  /** What runs, where it is no tool. */
  readonly program?: { readonly code?: string; readonly capability?: string };
  /** What its server changed of the tool since it was accepted; null where there is nothing. */
  readonly definition_changes?: readonly {
    readonly field: string;
    readonly before: unknown;
    readonly after: unknown;
  }[];
  readonly arguments_hash: string;
  readonly reason: string;
  readonly state: 'pending' | 'approved' | 'rejected' | 'used';
  readonly requested_at: string;
  readonly settled_at: string | null;
  readonly settled_by: string | null;
}

/** A workflow, or a call that waits for a person. */
export interface Run {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly intent: string | null;
  readonly status: 'running' | 'paused' | 'success' | 'error' | 'aborted';
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly tasks: Readonly<Record<string, unknown>>;
  readonly approvals: readonly Approval[];
}

export interface Runs {
  readonly runs: readonly Run[];
}

/** What `POST /api/execute` and running a capability answer. */
export interface Execution {
  readonly status: RunStatus;
  readonly run_id: string;
  readonly trace_id: string | null;
  readonly result?: unknown;
  readonly console?: string;
  readonly content?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly approval?: Approval;
}

export interface CapabilitySummary {
  readonly id: string;
  readonly slug: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly state: 'candidate' | 'active' | 'quarantined';
  readonly quarantined_because: string | null;
  readonly uses: number;
  readonly success_rate: number;
  /** Wilson's lower bound of the success rate. */
  readonly reliability: number;
  /** JSON Schema. */
  readonly parameters: unknown;
  readonly tools_used: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Capabilities {
  readonly capabilities: readonly CapabilitySummary[];
}

export interface Capability extends CapabilitySummary {
  readonly signature: string;
  readonly intent: string | null;
  readonly output: unknown;
  readonly code: string;
  readonly evidence: { readonly recent: readonly boolean[]; readonly run_ids: readonly string[] };
}

export interface Gate {
  readonly open: boolean;
  readonly gain: number;
  readonly ci95: readonly [number, number];
  readonly n: number;
  /** The same on foreign questions. */
  readonly far: { readonly gain: number; readonly ci95: readonly [number, number]; readonly n: number };
  readonly since: string | null;
}

/** nDCG@10 of what was learned and of search, query by query. */
interface Judged {
  readonly learned: readonly number[];
  readonly hybrid: readonly number[];
}

export interface Learning {
  readonly embedding: string;
  readonly runs: number;
  readonly least_runs: number;
  readonly gate: Gate;
  readonly model: { readonly parameters: number; readonly trained_at: string; readonly runs: number } | null;
  readonly training: {
    readonly stage: string;
    readonly done: number;
    readonly total: number;
    readonly loss?: number;
  } | null;
  readonly history: readonly {
    readonly trained_at: string;
    readonly runs: number;
    readonly gate: Gate;
    readonly loss: number | null;
    readonly seconds: number;
  }[];
  readonly losses: readonly number[];
  readonly evidence: Judged & { readonly far: Judged };
  readonly runs_to_ten_percent: number | null;
  /** Plans that were suggested, and what became of them; the rate is null while nobody has taken one up or down. */
  readonly suggestions: {
    readonly made: number;
    readonly accepted: number;
    readonly edited: number;
    readonly rejected: number;
    readonly acceptance_rate: number | null;
  };
  readonly success: {
    readonly success_rate: number | null;
    readonly mean_path_length: number | null;
    readonly mean_absolute_td_error: number | null;
    readonly statistics_cache: { readonly hits: number; readonly misses: number; readonly hit_rate: number };
  };
}
