import type {
  Approval,
  ListedRun,
  StandingApproval,
  WholeRun,
  WorkflowAnswer,
} from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { getJson, postJson } from '../../api.ts';
import { tellingOutcome } from '../../components/toast.tsx';
import { type Resource, useResource } from '../../resource.ts';

const DEFAULTS = { listed: 100 };

export const RUN_EVENTS: readonly LiveEvent['type'][] = [
  'run_started',
  'run_finished',
  'task_changed',
  'approval_requested',
  'approval_settled',
];

/** Workflows, and everything that waits for a decision. */
export function useWorkflowRuns(): Resource<{ readonly runs: readonly ListedRun[] }> {
  return useResource('runs', {
    load: (signal) => getJson('/runs', { limit: DEFAULTS.listed }, signal),
    reloadOn: ({ type }) => RUN_EVENTS.includes(type),
  });
}

/** What people have allowed until it is revoked. */
export function useStandingApprovals(): Resource<{ readonly approvals: readonly StandingApproval[] }> {
  return useResource('standing approvals', {
    load: (signal) => getJson('/standing-approvals', {}, signal),
    reloadOn: ({ type }) => type === 'approval_settled',
  });
}

export async function revoke({ id }: StandingApproval): Promise<void> {
  await tellingOutcome(postJson(`/standing-approvals/${encodeURIComponent(id)}/revoke`), 'Revoked');
}

/** Pending approvals of a run, longest waiting first. */
export function pendingOf({ approvals }: Pick<ListedRun, 'approvals'>): Approval[] {
  return approvals.filter(({ state }) => state === 'pending');
}

/** The task of an approval; a single call has only one. */
export function taskOf(run: Pick<ListedRun, 'tasks'>, approval: Approval): string | undefined {
  return Object.entries(run.tasks).find(([, state]) => state.approval_id === approval.approval_id)?.[0];
}

export function isOver({ status }: Pick<ListedRun, 'status'>): boolean {
  return status !== 'running' && status !== 'paused';
}

const at = (id: string, action: string) => `/runs/${encodeURIComponent(id)}/${action}`;

/** Resumes a paused run and shows its outcome. */
export async function resume(id: string): Promise<void> {
  await tellingOutcome(
    postJson<WorkflowAnswer>(at(id, 'resume')).then(({ status, error }) => {
      if (error) throw new Error(error.message);
      return status;
    }),
    'Resumed',
  );
}

export async function abort(id: string): Promise<void> {
  await tellingOutcome(postJson<WorkflowAnswer>(at(id, 'abort')), 'Aborted');
}

/** Approves a call. A caller that still waits continues by itself; a paused run is resumed if `resumes`. */
export async function approve(
  run: ListedRun,
  approval: Approval,
  resumes: boolean,
  beyond: {
    /** Accepts the tool's changed definition for later calls. */
    readonly accept_definition?: boolean;
    /** Approves later calls, too. */
    readonly always?: StandingApproval['scope'];
  } = {},
): Promise<void> {
  const body = { approval_ids: [approval.approval_id], ...beyond };
  const settled = await tellingOutcome(postJson<WholeRun>(at(run.run_id, 'approve'), body), 'Approved');
  if (settled?.status === 'paused' && resumes) await resume(run.run_id);
}

export async function reject(run: ListedRun, approval: Approval): Promise<void> {
  const body = { approval_ids: [approval.approval_id] };
  const settled = await tellingOutcome(postJson<WholeRun>(at(run.run_id, 'reject'), body), 'Rejected');
  // Dependent tasks are skipped and the others finish.
  if (settled?.status === 'paused' && settled.kind === 'workflow') await resume(run.run_id);
}

export function edit(run: ListedRun, task: string | undefined, args: unknown): Promise<WholeRun> {
  return postJson<WholeRun>(at(run.run_id, 'edit'), { arguments: args, ...(task !== undefined && { task }) });
}
