import type { RunKind, RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { ErrorType, WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { Run, Snapshot } from './api-types.ts';

/** The JSON of runs under way, workflows and suggestions. */

export type { ErrorShape, ErrorType, RunKind, RunOrigin, WireTraceEvent };

/** How a task stands; `waiting` and `unknown` ones wait for a person. */
export interface TaskState {
  readonly status: 'pending' | 'running' | 'waiting' | 'unknown' | 'success' | 'error' | 'skipped';
  readonly approval_id?: string;
  readonly edited_arguments?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  /** Of a list. */
  readonly items?: number;
  readonly duration_ms?: number;
  readonly error?: ErrorShape;
  /** Why it was skipped. */
  readonly because?: string;
}

/** A workflow, or a single call that waits for a person. */
export interface ListedRun extends Omit<Run, 'tasks'> {
  readonly kind: 'call' | 'workflow';
  /** Of the plan; `tasks` has the states of those that were touched, and of items of lists. */
  readonly task_count: number;
  readonly tasks: Readonly<Record<string, TaskState>>;
}

export interface PlanTask {
  readonly id: string;
  readonly tool?: string;
  readonly capability?: string;
  readonly code?: string;
  readonly name?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly depends_on: readonly string[];
  readonly when?: unknown;
  readonly for_each?: unknown;
  readonly reason?: string;
  readonly confidence?: number;
}

export interface PlanInput {
  readonly name: string;
  /** JSON Schema. */
  readonly schema: unknown;
  readonly description?: string;
}

export interface Plan {
  readonly tasks: readonly PlanTask[];
  readonly inputs: readonly PlanInput[];
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** One run with its plan, as it is kept. */
export interface WholeRun extends ListedRun {
  readonly plan: Plan | null;
  /** Tasks that held secrets, which were not kept: these cannot run again. */
  readonly not_kept: readonly string[];
}

/** What `POST /api/workflows`, resume and abort answer. */
export interface WorkflowAnswer {
  readonly status: string;
  readonly run_id: string;
  readonly results: Readonly<Record<string, TaskState>>;
  readonly error?: ErrorShape;
}

export interface Suggestion {
  readonly suggestion_id?: string;
  readonly plan: Plan;
  readonly confidence: number;
  readonly edges: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  /** Other tools that would do, by task. */
  readonly alternatives: Readonly<Record<string, readonly string[]>>;
}

/** A run under way. */
export interface LiveRun {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
  readonly started_at: string;
  readonly events: readonly LiveTraceEvent[];
}

/** With the moment it was told: what is under way is drawn up to now. */
export interface LiveTraceEvent extends WireTraceEvent {
  readonly at: string;
}

export interface LiveRuns extends Snapshot {
  readonly runs: readonly LiveRun[];
}
