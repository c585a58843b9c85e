import type { RunKind, RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { ErrorType, WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { executeWorkflow } from '../../../operations/execute-workflow.ts';
import type { exportCapability } from '../../../operations/export-capability.ts';
import type { findPath } from '../../../operations/find-path.ts';
import type { getActivity } from '../../../operations/get-activity.ts';
import type { getCapability } from '../../../operations/get-capability.ts';
import type { getGraph } from '../../../operations/get-graph.ts';
import type { getLearning } from '../../../operations/get-learning.ts';
import type { getLearningInsight } from '../../../operations/get-learning-insight.ts';
import type { getMe } from '../../../operations/get-me.ts';
import type { getNode } from '../../../operations/get-node.ts';
import type { getRun } from '../../../operations/get-run.ts';
import type { getStats } from '../../../operations/get-stats.ts';
import type { getTrace } from '../../../operations/get-trace.ts';
import type { listCapabilities } from '../../../operations/list-capabilities.ts';
import type { listCapabilityRuns } from '../../../operations/list-capability-runs.ts';
import type { listLiveRuns } from '../../../operations/list-live-runs.ts';
import type { listRuns } from '../../../operations/list-runs.ts';
import type { listServers } from '../../../operations/list-servers.ts';
import type { listTraces } from '../../../operations/list-traces.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import type { runCapability } from '../../../operations/run-capability.ts';
import type { searchCapabilities } from '../../../operations/search-capabilities.ts';
import type { searchTools } from '../../../operations/search-tools.ts';
import type { suggest } from '../../../operations/suggest.ts';

/** The JSON of `/api`, as the operations declare it: types alone, nothing of them runs in a browser. */

export type Me = OutputOf<typeof getMe>;
export type Right = Me['rights'][number];

export type Stats = OutputOf<typeof getStats>;
/** A snapshot that says where to follow the events from. */
export type Snapshot = Pick<Stats, 'last_event_id'>;

export type Servers = OutputOf<typeof listServers>;
export type Server = Servers['servers'][number];
export type ServerState = Server['state'];

export type Activity = OutputOf<typeof getActivity>;

export type SearchHit = OutputOf<typeof searchTools>['tools'][number];

export type Graph = OutputOf<typeof getGraph>;
export type GraphNode = Graph['nodes'][number];
export type GraphEdge = Graph['edges'][number];
export type GraphNodeDetails = OutputOf<typeof getNode>;
export type GraphPath = OutputOf<typeof findPath>;

export type Traces = OutputOf<typeof listTraces>;
export type TraceSummary = Traces['traces'][number];
export type Trace = OutputOf<typeof getTrace>;

export type Runs = OutputOf<typeof listRuns>;
/** A workflow, or a call that waits for a person. */
export type Run = Runs['runs'][number];
export type Approval = Run['approvals'][number];

/** What running a tool, code or a capability answers. */
export type Execution = OutputOf<typeof runCapability>;

export type Capabilities = OutputOf<typeof listCapabilities>;
export type CapabilitySummary = Capabilities['capabilities'][number];
export type Capability = OutputOf<typeof getCapability>;

export type Learning = OutputOf<typeof getLearning>;
export type Gate = Learning['gate'];

/** A capability that a search found. */
export type CapabilityHit = OutputOf<typeof searchCapabilities>['capabilities'][number];

export type CapabilityRuns = OutputOf<typeof listCapabilityRuns>;

/** An Agent Skill: what its folder is called, and its files by name. */
export type SkillFolder = OutputOf<typeof exportCapability>;

export type LearningInsight = OutputOf<typeof getLearningInsight>;

/** What one part of the model did for the tools that were right, in units of its score. */
export type PartInsight = NonNullable<LearningInsight['model']>['features'][number];

/** What each part adds to a final score; together they make it. */
export type ScoreShares = NonNullable<SearchHit['shares']>;

/** A hit of a search that was asked to explain itself. */
export type ExplainedHit = SearchHit & { readonly shares: ScoreShares };

/** A search with `explain` and `capabilities`. */
export interface ExplainedSearch {
  readonly tools: readonly ExplainedHit[];
  readonly capabilities: readonly CapabilityHit[];
}

/** The JSON of runs under way, workflows and suggestions. */

export type { ErrorShape, ErrorType, RunKind, RunOrigin, WireTraceEvent };

/** A workflow, or a single call that waits for a person. */
export type ListedRun = Run;

/** How a task stands; `waiting` and `unknown` ones wait for a person. */
export type TaskState = Run['tasks'][string];

/** One run with its plan, as it is stored. */
export type WholeRun = OutputOf<typeof getRun>;

export type Plan = NonNullable<WholeRun['plan']>;

export type PlanTask = Plan['tasks'][number];

/** What running a workflow, resuming and aborting answer. */
export type WorkflowAnswer = OutputOf<typeof executeWorkflow>;

export type Suggestion = Extract<OutputOf<typeof suggest>, { readonly plan: unknown }>;

export type LiveRuns = OutputOf<typeof listLiveRuns>;

/** A run under way. */
export type LiveRun = LiveRuns['runs'][number];

/** With the moment it was told: what is under way is drawn up to now. */
export type LiveTraceEvent = LiveRun['events'][number];

/** A difference of nDCG@10 to what serves with its 95 % interval, a value of its own, or null where nothing was measured. */
export type AblationCell =
  | { readonly gain: number; readonly ci95: readonly [number, number] }
  | { readonly value: number }
  | null;

/** What each part of the ranker is worth, as docs/ablation.md has it; the build puts it into the page. */
export interface Ablation {
  readonly sets: readonly string[];
  readonly rows: readonly { readonly variant: string; readonly cells: readonly AblationCell[] }[];
}
