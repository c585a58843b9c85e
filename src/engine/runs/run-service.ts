import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { Difference } from '../code/cassette.ts';
import type { Suggestion } from '../learning/suggest.ts';
import type { StandingScope } from '../people/standing-approvals.ts';
import type { Approval, ConsoleLine, JsonObject, ToolResult } from '../ports.ts';
import type { PendingRun } from './pending-runs.ts';

/** What a run gave: a tool call, a program, a capability, a plan. Its failure is data. */
export interface RunResult {
  /** `decision_required`: a layer is done, and the agent says whether the run continues. */
  readonly status: 'success' | 'error' | 'approval_required' | 'decision_required' | 'running' | 'aborted';
  readonly runId: string;
  /** Of what ran just now; null where nothing of it is kept. */
  readonly traceId: string | null;
  /** What the run as a whole gave: the value of its only task, or what a program returned. */
  readonly result?: unknown;
  /** Of a single tool call: the server's own result, untouched. */
  readonly toolResult?: ToolResult;
  /** Of a program: pictures and sounds that its tools gave, as content blocks. */
  readonly media?: readonly JsonObject[];
  readonly error?: RunError;
  /** What a person was asked about the run. */
  readonly approvals: readonly Approval[];
  /** What programs wrote; of a run of one task. */
  readonly console: readonly ConsoleLine[];
  /** Without repeats, in order of first use. */
  readonly toolsUsed: readonly string[];
  /** By task: what became of it and what it gave, or why not. Empty for a single task that never had to wait. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly layers: readonly (readonly string[])[];
  /** With `decision_required`: the tasks that would run next. */
  readonly next?: readonly string[];
  /** After `replan`: what is done, as tools and other nodes in the order they ended. */
  readonly executed?: readonly string[];
}

/** With the place in the code, or the server's own error, where there is one. */
export interface RunError extends ErrorShape {
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ToolCall {
  /** In any spelling `parseToolId` takes. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
  /** More fields of the request, passed upstream untouched (the transparent endpoint's). */
  readonly meta?: JsonObject;
  readonly extraParams?: JsonObject;
  readonly passInputRequired?: boolean;
  readonly passTask?: boolean;
  /** Calls a tool that its server does not list, too: refusing it is the server's business. */
  readonly evenIfUnlisted?: boolean;
}

export interface CodeCall {
  readonly code: string;
  /** What the code sees as `args`. */
  readonly arguments?: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

export interface CapabilityCall {
  /** Slug or alias. */
  readonly capability: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

export interface IntentCall {
  readonly intent: string;
  /** Values of the inputs that the plan will have. */
  readonly arguments?: JsonObject;
}

/** What an intent alone led to: a run of what was suggested, or the suggestion and why it was not run. */
export interface IntentRun {
  readonly suggestion: Suggestion;
  readonly why: readonly string[];
  readonly run?: RunResult;
}

/** A program as a plan. */
export interface PlannedCode {
  readonly plan: Plan;
  /** What the program returns, with references to the tasks' results; absent where it returns nothing. */
  readonly result?: unknown;
}

export type RunAction = 'status' | 'continue' | 'replan' | 'resume' | 'abort';

export interface CallEdit {
  /** Absent: the only one that waits. */
  readonly task?: string;
  readonly arguments: JsonObject;
  readonly by: string;
}

export interface ReplayOptions {
  /** `cassette`: recorded calls stand in for the servers; `live`: the servers are asked again. */
  readonly against: 'cassette' | 'live';
  /** Names or paths of fields that may differ. */
  readonly ignore?: readonly string[];
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

/** What a person allows with an approval besides the call that waits. */
export interface BeyondTheCall {
  /** Changed definitions of these tools are accepted for good, not for these calls alone. */
  readonly acceptDefinition?: boolean;
  /** Later calls of this kind are approved, too, until somebody revokes it. */
  readonly always?: StandingScope;
}

/** Where a run is taken up again, and what is changed there. */
export interface ForkRequest {
  /** `filesystem:read_file#0`, or the trace id of the call. */
  readonly at: string;
  /** Absent: the call is made again as it was. */
  readonly set?: { readonly result: unknown } | { readonly arguments: JsonObject };
  /** Instead of the program that ran; what it does before the call must be the same. */
  readonly code?: string;
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
