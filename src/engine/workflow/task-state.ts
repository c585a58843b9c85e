import type { WireGuest } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId } from '../../core/vocabulary/ids.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { ResumePoint } from '../code/program.ts';
import type { JsonObject } from '../ports.ts';

/** What a task carries along until it is over. */
interface Carried {
  /** Put in place of the plan's by a person. */
  readonly edited_arguments?: JsonObject;
  /** Where code stood that waits for a person. */
  readonly standing?: ResumePoint;
}

/** As it is stored and shown, by task id; an item of a `for_each` has a state of its own, `task[0]`. */
export type TaskState =
  /** Nothing of it has begun. */
  | (Carried & { readonly status: 'pending' })
  /** Its effect may have happened, whatever happens now. */
  | (Carried & {
      readonly status: 'running';
      /** How often it was found like this by somebody who took the run up. */
      readonly crashes: number;
    })
  /** `waiting`: for permission to run. `unknown`: whether it ran; a person decides if it runs again. */
  | (Carried & { readonly status: 'waiting' | 'unknown'; readonly approval_id: string })
  | {
      readonly status: 'success';
      /** Redacted; absent when the items have it. */
      readonly result?: unknown;
      /** Redaction took nothing away. */
      readonly is_whole: boolean;
      /** Of a `for_each`. */
      readonly items?: number;
      readonly duration_ms: number;
      /** In milliseconds since 1970. */
      readonly at: number;
    }
  | { readonly status: 'error'; readonly error: ErrorShape; readonly at: number }
  | {
      readonly status: 'skipped';
      readonly because: string;
      /** A task that is skipped by its condition has not failed. */
      readonly by: 'condition' | 'failure';
    };

/** A task that ended, as the trace and the graph want to know it. */
export interface TaskResult {
  readonly id: string;
  readonly node: NodeId;
  readonly depends_on: readonly string[];
  readonly status: TaskState['status'];
  /** When it was over, in milliseconds since 1970. */
  readonly at?: number;
  readonly duration_ms?: number;
  /** It was over before the calls of this trace. */
  readonly earlier?: true;
  /** Of programs, by task or item: what a replay needs besides their arguments. */
  readonly programs?: Readonly<Record<string, TaskProgram>>;
}

/** The conditions of a program that was a task, and its span in the trace. */
export type TaskProgram = Omit<WireGuest, 'args'> & { readonly span: string | null };

export const PENDING: TaskState = { status: 'pending' };

export type OpenState = Extract<TaskState, { status: 'pending' | 'running' | 'waiting' | 'unknown' }>;

export function isOpen(state: TaskState): state is OpenState {
  return ['pending', 'running', 'waiting', 'unknown'].includes(state.status);
}

/** Whether those who need it can do without: it failed, or was skipped because another did. */
export function hasFailed(state: TaskState): boolean {
  return state.status === 'error' || (state.status === 'skipped' && state.by === 'failure');
}

export function carriedBy(state: TaskState | undefined): Carried {
  if (!state || !isOpen(state)) return {};
  const { edited_arguments, standing } = state;
  return { ...(edited_arguments && { edited_arguments }), ...(standing && { standing }) };
}

/** A state without what only going on needs. */
export function shownState(state: unknown): unknown {
  if (typeof state !== 'object' || state === null) return state;
  const { standing: _, crashes: __, is_whole, ...rest } = state as JsonObject;
  return { ...rest, ...(is_whole === false && { is_whole }) };
}

/** The key of one item of a `for_each`. */
export function itemKey(taskId: string, index: number): string {
  return `${taskId}[${index}]`;
}

/** Keys of calls that ran ahead, beside those of tasks: no task can be called so. */
export const AHEAD = '~';

/** The states of a run that is kept. */
export function storedStates(tasks: Readonly<Record<string, unknown>>): Map<string, TaskState> {
  const own = Object.entries(tasks).filter(([key]) => !key.startsWith(AHEAD));
  return new Map(own) as Map<string, TaskState>;
}
