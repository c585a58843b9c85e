import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import type { Caller } from '../caller.ts';
import type { Difference } from '../code/cassette.ts';
import type { Suggestion } from '../learning/suggest.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { PendingRun } from './pending-runs.ts';
import type { RunResult } from './run.ts';
import type {
  BeyondTheCall,
  CallEdit,
  CapabilityCall,
  CodeCall,
  ForkRequest,
  IntentCall,
  PlannedCode,
  ReplayOptions,
  RunAction,
  ToolCall,
} from './run-requests.ts';

/** What an intent alone led to: a run of what was suggested, or the suggestion and why it was not run. */
export interface IntentRun {
  readonly suggestion: Suggestion;
  readonly why: readonly string[];
  readonly run?: RunResult;
}

export interface ReplayReport {
  readonly traceId: string;
  readonly against: ReplayOptions['against'];
  readonly isEqual: boolean;
  /** The first one; null where there is none. */
  readonly difference: Difference | null;
  /** Recorded calls of tools and capabilities. */
  readonly calls: number;
  /** Calls whose stored results were redacted or cut: what the program saw then was more. */
  readonly notWhole: readonly string[];
  /** The trace that a live replay left. */
  readonly replayTraceId: string | null;
}

/** Everything that runs, and runs that wait for somebody. */
export interface RunService {
  /** One call through policy, upstream and trace. */
  executeTool(call: ToolCall, caller: Caller): Promise<RunResult>;
  /** Structure, policy preview, sandbox, trace. */
  executeCode(call: CodeCall, caller: Caller): Promise<RunResult>;
  executeCapability(call: CapabilityCall, caller: Caller): Promise<RunResult>;
  /** With a run id that is there already, that run is gone on with instead. */
  executeWorkflow(
    plan: Plan,
    intent: string | null,
    caller: Caller,
    runId?: string,
    /** The suggestion that the plan comes from, changed or not. */
    suggestionId?: string,
  ): Promise<RunResult>;
  /** Runs what was suggested as it was, with these values of its inputs. */
  executeSuggestion(
    suggestionId: string,
    args: JsonObject,
    caller: Caller,
    runId?: string,
  ): Promise<RunResult>;
  /** Code whose calls do not depend on how the run goes, as a plan; else an error with all that stands against it. */
  planFromCode(code: string, args?: JsonObject): Promise<PlannedCode>;
  /** Runs code as a plan: what only reads runs side by side, and the run can be interrupted. */
  executeAsPlan(call: CodeCall, caller: Caller, runId?: string): Promise<RunResult>;
  /** Suggests, and runs that where it may run by itself. */
  executeIntent(call: IntentCall, caller: Caller, runId?: string): Promise<IntentRun>;
  /** What an agent may do with a run that waits: look, go on once a person has approved, or give it up. */
  continueRun(runId: string, action: RunAction, caller: Caller): Promise<RunResult>;

  /** Runs what a trace recorded once more, without learning from it; a trace that does not hold enough is an error. */
  replayRun(trace: ExecutionTrace, options: ReplayOptions, caller: Caller): Promise<ReplayReport>;

  /**
   * Runs a recorded program again: calls before the one it is forked at are answered from the trace, the others are made.
   * Nothing is learned from it.
   */
  forkRun(trace: ExecutionTrace, fork: ForkRequest, caller: Caller): Promise<RunResult>;

  /** By a person; false when there is nothing to decide any more. */
  settleApproval(
    runId: string,
    decision: 'approved' | 'rejected',
    by: string,
    /** Those the person was shown; absent: all that wait. */
    approvalIds?: readonly string[],
    beyond?: BeyondTheCall,
  ): Promise<boolean>;
  /** Runs with the exact calls that wait in them, for a person who may decide about them. */
  showExact(runs: readonly PendingRun[]): Promise<PendingRun[]>;
  /** By a person: other arguments for a call that waits. It needs a new approval, since it is another call. */
  editCall(runId: string, edit: CallEdit): Promise<Approval>;
}
