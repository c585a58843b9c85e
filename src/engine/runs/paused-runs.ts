import { callFingerprint, canonicalJson } from '../../core/policy/call-hash.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { TaskBody } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Approvals, Decision } from '../calls/approvals.ts';
import { mustBeShown, showApproval } from '../calls/show-approval.ts';
import type { LiveCatalogue } from '../catalogue/live-catalogue.ts';
import type { ResumePoint } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { ToolCall } from '../gateway.ts';
import { recordAccepted } from '../people/audit-trail.ts';
import type { Approval, JsonObject, WorkflowRun } from '../ports.ts';
import type { RunHead } from './run.ts';

/** The one task of a run that is a single call or a piece of code. */
const ONLY_TASK = 'call';

/** What the run was to do; exactly one of tool, code and capability. */
export type PausedWork = TaskBody & { readonly arguments: JsonObject };

/** Writes down what waits for a person; nothing of it stays in memory. All of it is kept redacted. */
export async function pauseRun(
  { store, clock, crypto, redact }: FlowPorts,
  head: RunHead,
  work: PausedWork,
  approval: Approval,
  /** Where code stood. */
  standing?: Omit<ResumePoint, 'runId'>,
  /** False: what it was to do must not be kept, so it cannot be taken up again. */
  isKept = true,
): Promise<void> {
  const now = clock.now();
  const kept = isKept ? (redact(work) as PausedWork) : withoutValues(work);
  const run: WorkflowRun = {
    id: head.runId,
    kind: 'call',
    sessionId: head.sessionId,
    origin: head.origin,
    owner: head.owner,
    visibility: head.visibility,
    intentText: head.intent === null ? null : String(redact(head.intent)),
    plan: { tasks: [{ ...kept, id: ONLY_TASK, dependsOn: [] }], inputs: [] },
    status: 'paused',
    tasks: {
      [ONLY_TASK]: {
        status: 'waiting',
        approval_id: approval.id,
        ...(standing && { standing, work_hash: crypto.sha256(canonicalJson(work)) }),
      },
    },
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  const before = await store.runs.get(head.runId);
  if (before) await store.runs.update({ ...run, createdAt: before.createdAt, version: before.version + 1 });
  else await store.runs.create(run);
}

function withoutValues(work: PausedWork): PausedWork {
  return work.code === undefined ? { ...work, arguments: {} } : { code: REDACTED, arguments: {} };
}

/** Paused code and where it stood; what redaction took away cannot be run. */
export function pausedCode(
  { crypto }: FlowPorts,
  run: WorkflowRun,
): { work: PausedWork; standing: ResumePoint } {
  const task = run.plan?.tasks[0];
  const state = run.tasks[ONLY_TASK] as
    | { standing?: Omit<ResumePoint, 'runId'>; work_hash?: string }
    | undefined;
  if (!task || !state?.standing) throw new PmlError('not_found', `Run ${run.id} has nothing to resume`);
  const { id: _, dependsOn: __, ...work } = task;
  if (crypto.sha256(canonicalJson(work)) !== state.work_hash) throw notKept(run, 'code or its arguments');
  return { work, standing: { ...state.standing, runId: run.id } };
}

export async function endRun(
  { store, clock }: FlowPorts,
  run: WorkflowRun,
  status: WorkflowRun['status'],
): Promise<void> {
  await store.runs.update({ ...run, tasks: {}, status, version: run.version + 1, updatedAt: clock.now() });
}

export interface Settlement {
  readonly runId: string;
  readonly decision: Decision;
  readonly by: string;
  /** Those the person was shown; absent: all that wait. */
  readonly approvalIds?: readonly string[];
  /** With an approval: changed definitions of these tools are accepted for good, not for these calls alone. */
  readonly acceptDefinition?: boolean;
}

export interface SettleScope {
  readonly ports: FlowPorts;
  readonly approvals: Approvals;
  readonly catalogue: Pick<LiveCatalogue, 'current' | 'accept'>;
}

/** By a person. A rejection ends a single call, and a workflow's branch; an approval lets the run be resumed. */
export async function settleRun(
  { ports, approvals, catalogue }: SettleScope,
  { runId, decision, by, approvalIds, acceptDefinition = false }: Settlement,
): Promise<boolean> {
  const pending = await ports.store.approvals.list({ runId, state: 'pending' });
  const open = pending.filter(({ id }) => approvalIds === undefined || approvalIds.includes(id));
  const asked = await ports.store.runs.get(runId);
  const parts = { ports, calls: approvals.calls, catalogue: catalogue.current };
  const shown = open.map((approval) => showApproval(parts, asked, approval));
  if (decision === 'approved') shown.forEach(mustBeShown);
  let decided = false;
  for (const approval of shown) {
    // Before the call continues: it is made under the definition that was accepted.
    const proposed = approval.changes && catalogue.current().get(approval.node as ToolId)?.proposed;
    const isFirst = await approvals.settle(approval, decision, by);
    decided ||= isFirst;
    if (isFirst && decision === 'approved' && acceptDefinition && proposed) {
      await recordAccepted(ports, proposed, approval);
      await catalogue.accept(proposed);
    }
  }
  const run = await ports.store.runs.get(runId);
  const isOver = run?.kind === 'call' && run.status === 'paused' && decided && decision === 'rejected';
  if (run && isOver) await endRun(ports, run, 'aborted');
  return decided;
}

/**
 * The paused call, ready to be made. The stored arguments are redacted: where that took something
 * away they are not the approved ones, and the agent has to make the call itself once more.
 */
export function callOf(
  ports: FlowPorts,
  run: WorkflowRun,
  approval: Approval,
  definitionHash: string,
): ToolCall {
  const task = run.plan?.tasks[0];
  if (!task?.tool) throw new PmlError('not_found', `Run ${run.id} has no call to resume`);
  const fingerprint = callFingerprint(task.tool, definitionHash, task.arguments);
  if (ports.crypto.sha256(fingerprint) !== approval.argumentsHash) {
    throw notKept(run, 'arguments');
  }
  return { tool: task.tool, arguments: task.arguments, ...(run.intentText && { intent: run.intentText }) };
}

function notKept({ id }: WorkflowRun, what: string): PmlError {
  return new PmlError('invalid_argument', `The ${what} of run ${id} held secrets that were not kept`, {
    hint: 'Make the same call again with pml_execute: the approval is waiting for it.',
  });
}
