import type { DefinitionChange } from '../../core/policy/call-hash.ts';
import type { PendingCall } from '../calls/approvals.ts';
import type { Approval, Store, WorkflowRun } from '../ports.ts';
import { AHEAD, shownState, storedStates } from '../workflow/task-state.ts';

export { diffLines } from '../../core/policy/call-hash.ts';
export type { DefinitionChange };

/** An approval as the person who decides sees it. */
export interface ShownApproval extends Approval {
  /** Whether `arguments` are those of the call; where they are not known whole, it can only be rejected. */
  readonly isExact?: boolean;
  readonly program?: PendingCall['program'];
  /** What its server changed of the tool since a person accepted it. */
  readonly changes?: readonly DefinitionChange[];
}

/** A run with what a person was asked about it. */
export interface PendingRun {
  readonly runId: string;
  /** Null while the call still waits for an answer: it is written down when it stops waiting. */
  readonly run: WorkflowRun | null;
  /** Oldest first. */
  readonly approvals: readonly ShownApproval[];
}

type RunStores = Pick<Store, 'runs' | 'approvals'>;

/** Null when nothing is known of it. */
export async function findRun({ runs, approvals }: RunStores, runId: string): Promise<PendingRun | null> {
  const [run, asked] = await Promise.all([runs.get(runId), approvals.list({ runId })]);
  return run || asked.length > 0 ? { runId, run, approvals: asked } : null;
}

/** The runs that wait for a person, the longest waiting first. */
export async function waitingRuns(stores: RunStores): Promise<PendingRun[]> {
  const pending = await stores.approvals.list({ state: 'pending' });
  const ids = [...new Set(pending.map(({ runId }) => runId))];
  const found = await Promise.all(ids.map((id) => findRun(stores, id)));
  return found.filter((run) => run !== null);
}

/** Those that wait, then the others, newest first. */
export async function recentRuns(
  stores: RunStores,
  limit: number,
  /** Only runs that are shared or this user's own, of those that do not wait. */
  visibleTo?: string,
): Promise<PendingRun[]> {
  const waiting = await waitingRuns(stores);
  const isWaiting = new Set(waiting.map(({ runId }) => runId));
  const others = (await stores.runs.list(limit, visibleTo)).filter(({ id }) => !isWaiting.has(id));
  const asked = await Promise.all(
    others.map(async (run) => ({
      runId: run.id,
      run,
      approvals: await stores.approvals.list({ runId: run.id }),
    })),
  );
  return [...waiting, ...asked].slice(0, limit);
}

/** The tasks of a run as callers see them. */
export function shownTasks({ tasks }: Pick<WorkflowRun, 'tasks'>): WorkflowRun['tasks'] {
  return Object.fromEntries(
    storedStates(tasks)
      .entries()
      .map(([id, state]) => [id, shownState(state)]),
  );
}

/** How many calls of a run were made ahead of their turn, and how many of those were used; nothing for none. */
export function aheadIn({ tasks }: Pick<WorkflowRun, 'tasks'>): {
  readonly ahead?: { readonly started: number; readonly used: number };
} {
  const calls = Object.entries(tasks).filter(([key]) => key.startsWith(AHEAD));
  const used = calls.filter(([, state]) => (state as { used?: boolean }).used === true).length;
  return calls.length === 0 ? {} : { ahead: { started: calls.length, used } };
}
