import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import type { Caller } from '../caller.ts';
import type { Attempt } from '../calls/call-tool.ts';
import type { TaskAttempt } from '../code/attempt-program.ts';
import type { JsonObject, RunLease, ToolResult, WorkflowRun } from '../ports.ts';
import type { Run } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import type { Past } from '../runs/single-run.ts';
import type { Slots } from './active-runs.ts';
import type { Target } from './targets.ts';
import type { TaskState } from './task-state.ts';

/** What is driven, and from where. */
export interface DriveRequest {
  /** Ours, by this lease. */
  readonly run: WorkflowRun;
  readonly lease: RunLease;
  /** False for a run that begins: it is written down with its first task. */
  readonly isStored: boolean;
  /** As it was given, for who begins the run; else what was kept of it. */
  readonly plan: Plan;
  /** Of its tasks, in order. */
  readonly targets: readonly Target[];
  /** The agent said to go on to the next layer. */
  readonly goesOn: boolean;
  readonly past?: TaskPast | undefined;
}

/** One process at work on one run, from taking it up until it is over, waits or is let go. */
export interface RunDriver {
  readonly scope: RunScope;
  /** A tool call, a program or a capability, not a workflow: what it is given holds no references. */
  readonly isSingle: boolean;
  readonly run: Run;
  /** Its signal ends the calls under way: the caller has gone, or the drive is to stop. */
  readonly caller: Caller;
  /** This process lost the run: nothing may begin, and failures from now on mean nothing. */
  readonly stopped: AbortSignal;
  readonly slots: Slots;
  /** By task, and by item of a `for_each`: as they are now. */
  readonly states: ReadonlyMap<string, TaskState>;
  /** What was over before this drive began. */
  readonly earlier: ReadonlySet<string>;
  /** What tasks and items gave, whole. */
  readonly values: Map<string, unknown>;
  /** How those that ran in this drive ended. */
  readonly attempts: Map<string, TaskAttempt>;
  /** Writes down that something begins; resolves when that is committed, with all that was noted before. */
  begin(key: string, state: TaskState): Promise<void>;
  /** Takes note of how something ended, and how that is kept; it is committed before anything that comes after it. */
  note(key: string, state: TaskState, kept?: TaskState): void;
  /** A person is or may have been asked. */
  onAsk(): void;
  /** Null unless calls may run ahead. */
  ahead(): Speculation | null;
  /** What a run that is repeated is told instead of doing it; absent: it is not a repetition. */
  readonly past?: TaskPast;
}

/** How a call ended, and its result as it was recorded. */
export interface ToldCall {
  readonly made: Exclude<Attempt, { kind: 'waiting' }>;
  readonly result: unknown;
}

/** The recorded calls of another run of the same plan. */
export interface TaskPast {
  /** How the tool call ended then, or the arguments to use now; null: the given arguments. */
  tool(step: Step, args: JsonObject): Promise<ToldCall | { readonly arguments: JsonObject } | null>;
  /** What a program has behind it; null: nothing. */
  program(step: Step): Past | null;
}

/** One call, piece of code or capability of a plan: a task, or one item of its list. */
export interface Step {
  readonly key: string;
  readonly task: Task;
  readonly target: Target;
  /** What references may name. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What code sees of the tasks before it. */
  readonly deps: JsonObject;
}

/** Calls made before their turn, while a run waits for something else. */
export interface Speculation {
  /** Something has changed: makes the calls that can be made now. */
  look(): void;
  /** The very same call, where it was made ahead. */
  take(step: Step, args: JsonObject): Promise<ToolResult | null> | null;
  /** What work without effects gave, to guess by another time. */
  learn(step: Step, args: JsonObject, value: unknown): void;
  /** The driver is done; unused results are dropped, unless the run continues when its agent says so. */
  close(goesOn: boolean): void;
}
