import type { RunKind, RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { ErrorType, WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { Answer } from '../../../operations/operation-client.ts';

/** The JSON of `/api`, as declared by the operations: types only, so no code of them reaches the browser. */

export type { Answer, ErrorShape, ErrorType, RunKind, RunOrigin, WireTraceEvent };

export type Me = Answer<'get_me'>;
export type Right = Me['rights'][number];
export type Stats = Answer<'get_stats'>;
export type Keys = Answer<'list_keys'>;
export type Key = Keys['keys'][number];
/** The key with its secret. */
export type CreatedKey = Answer<'create_key'>;
/** The connected OAuth clients. */
export type Connections = Answer<'list_connections'>;
export type Alerts = Answer<'list_alerts'>;
export type Servers = Answer<'list_servers'>;
export type Server = Servers['servers'][number];
export type ServerState = Server['state'];
export type Activity = Answer<'get_activity'>;
export type SearchHit = Answer<'search_tools'>['tools'][number];
export type Graph = Answer<'get_graph'>;
export type GraphNode = Graph['nodes'][number];
export type GraphEdge = Graph['edges'][number];
export type GraphNodeDetails = Answer<'get_node'>;
export type GraphPath = Answer<'find_path'>;
export type Traces = Answer<'list_traces'>;
export type TraceSummary = Traces['traces'][number];
export type Trace = Answer<'get_trace'>;
export type GoodRun = Answer<'find_good_run'>;
export type Calls = Answer<'list_calls'>;
export type CallGroups = Answer<'count_calls'>;
export type Runs = Answer<'list_runs'>;
/** A workflow, or a call that waits for approval. */
export type Run = Runs['runs'][number];
export type Approval = Run['approvals'][number];
export type StandingApproval = Answer<'list_standing_approvals'>['approvals'][number];

/** The response to running a tool, code or a capability. */
export type Execution = Answer<'run_capability'>;
export type Capabilities = Answer<'list_capabilities'>;
export type CapabilitySummary = Capabilities['capabilities'][number];
export type Capability = Answer<'get_capability'>;
export type Drift = Answer<'list_drift'>;
export type Learning = Answer<'get_learning'>;
export type Gate = Learning['gate'];

/** A capability that a search found. */
export type CapabilityHit = Answer<'search_capabilities'>['capabilities'][number];
export type CapabilityRuns = Answer<'list_capability_runs'>;

/** An Agent Skill: its folder's name, and its files by name. */
export type SkillFolder = Answer<'export_capability'>;
export type LearningInsight = Answer<'get_learning_insight'>;

/** What one part of the model contributed to the scores of correct tools. */
export type PartInsight = NonNullable<LearningInsight['model']>['features'][number];

/** Contributions to a final score, which is their sum. */
export type ScoreShares = NonNullable<SearchHit['shares']>;

/** A hit of a search with `explain`. */
export type ExplainedHit = SearchHit & { readonly shares: ScoreShares };

/** A search with `explain` and `capabilities`. */
export interface ExplainedSearch {
  readonly tools: readonly ExplainedHit[];
  readonly capabilities: readonly CapabilityHit[];
}

/** A workflow, or a single call that waits for approval. */
export type ListedRun = Run;

/** State of a task; `waiting` and `unknown` ones wait for a decision. */
export type TaskState = Run['tasks'][string];

/** One run with its plan, as stored. */
export type WholeRun = Answer<'get_run'>;
export type Plan = NonNullable<WholeRun['plan']>;
export type PlanTask = Plan['tasks'][number];

/** The response to running, resuming or aborting a workflow. */
export type WorkflowAnswer = Answer<'execute_workflow'>;
export type Suggestion = Extract<Answer<'suggest'>, { readonly plan: unknown }>;
export type LiveRuns = Answer<'list_live_runs'>;

/** A run in progress. */
export type LiveRun = LiveRuns['runs'][number];

/** With the time it was reported: running calls are drawn up to now. */
export type LiveTraceEvent = LiveRun['events'][number];

/**
 * A difference of nDCG@10 to the ranker in use with its 95 % interval, an absolute value, or null if not
 * measured.
 */
export type AblationCell =
  | { readonly gain: number; readonly ci95: readonly [number, number] }
  | { readonly value: number }
  | null;

/** The effect of each part of the ranker, from docs/ablation.md; the build inserts it into the page. */
export interface Ablation {
  readonly sets: readonly string[];
  readonly rows: readonly { readonly variant: string; readonly cells: readonly AblationCell[] }[];
}
