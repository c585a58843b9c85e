import type { RunKind, RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { ErrorType, WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { executeWorkflow } from '../../../operations/execute-workflow.ts';
import type { getRun } from '../../../operations/get-run.ts';
import type { listLiveRuns } from '../../../operations/list-live-runs.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import type { suggest } from '../../../operations/suggest.ts';
import type { Run } from './api-types.ts';

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
