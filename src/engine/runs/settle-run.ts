import { checkArguments } from '../../core/capabilities/validate-arguments.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { type Approvals, type Decision, recordDecision } from '../calls/approvals.ts';
import { exactCall } from '../calls/ask-person.ts';
import { mustBeShown, showApproval } from '../calls/show-approval.ts';
import type { LiveCatalogue } from '../catalogue/catalogue.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { recordAccepted, recordEdit } from '../people/audit-trail.ts';
import { allowAlways, type StandingScope } from '../people/standing-approvals.ts';
import type { Approval, JsonObject, WorkflowRun } from '../ports.ts';
import { carriedBy, storedStates, type TaskState } from '../workflow/task-state.ts';
import type { ShownApproval } from './pending-runs.ts';
import type { BeyondTheCall, CallEdit } from './run-requests.ts';
import type { RunScope } from './run-scope.ts';

interface Settlement extends BeyondTheCall {
  readonly runId: string;
  readonly decision: Decision;
  readonly by: string;
  /** Those the person was shown; absent: all that wait. */
  readonly approvalIds?: readonly string[];
}

interface SettleScope {
  readonly ports: FlowPorts;
  readonly approvals: Approvals;
  readonly catalogue: Pick<LiveCatalogue, 'current' | 'accept'>;
}

/** By a person. A rejection ends a single call, and a workflow's branch; an approval lets the run be resumed. */
export async function settleRun(
  { ports, approvals, catalogue }: SettleScope,
  { runId, decision, by, approvalIds, acceptDefinition = false, always }: Settlement,
): Promise<boolean> {
  const pending = await ports.store.approvals.list({ runId, state: 'pending' });
  const open = pending.filter(({ id }) => approvalIds === undefined || approvalIds.includes(id));
  const asked = await ports.store.runs.get(runId);
  const parts = { ports, calls: approvals.calls, catalogue: catalogue.current };
  const shown = open.map((approval) => showApproval(parts, asked, approval));
  if (decision === 'approved') shown.forEach(mustBeShown);
  const orders = shown.map((approval) =>
    always === undefined ? null : standingOrder({ ports, approvals, catalogue }, approval, asked, always, by),
  );
  let decided = false;
  for (const [at, approval] of shown.entries()) {
    // Before the call continues: it is made under the definition that was accepted.
    const proposed = approval.changes && catalogue.current().get(approval.node as ToolId)?.proposed;
    const isFirst = await approvals.settle(approval, decision, by);
    decided ||= isFirst;
    const order = orders[at];
    if (isFirst && decision === 'approved' && order) await allowAlways(ports, approval, order);
    if (isFirst && decision === 'approved' && acceptDefinition && proposed) {
      await recordAccepted(ports, proposed, approval);
      await catalogue.accept(proposed);
    }
  }
  const run = await ports.store.runs.get(runId);
  if (run?.kind === 'call' && run.status === 'paused' && decided && decision === 'rejected') {
    const end = { status: 'aborted', version: run.version + 1, updatedAt: ports.clock.now() } as const;
    await ports.store.runs.update({ ...run, ...end, tasks: {} });
  }
  return decided;
}

/** Throws where the call is not one of a tool that is listed, or nobody knows any more whose it was. */
function standingOrder(
  { ports, approvals, catalogue }: SettleScope,
  { id, node, argumentsHash, arguments: args, program }: ShownApproval,
  run: WorkflowRun | null,
  scope: StandingScope,
  by: string,
) {
  const entry = catalogue.current().get(node as ToolId);
  const definition = [entry?.proposed, entry?.tool].find(
    (one) => one && exactCall(ports, one, args as JsonObject) === argumentsHash,
  );
  const asker = approvals.calls.get(id)?.asker ?? (run && { user: run.owner, sessionId: run.sessionId });
  if (!definition || !asker || program) {
    throw new PmlError('not_available', `${node} can only be approved for this one call`, {
      hint: 'Approve it without "always".',
    });
  }
  return { scope, by, asker, definitionHash: definition.definitionHash };
}

type WaitingState = Extract<TaskState, { status: 'waiting' | 'unknown' }>;

/**
 * A person puts other arguments in place of those of a call that waits. What was asked is taken back, and the
 * call as it is now is asked about: another hash, another approval.
 */
export async function editCall(scope: RunScope, runId: string, edit: CallEdit): Promise<Approval> {
  const { ports, approvals } = scope;
  const { store, clock, crypto } = ports;
  const run = await store.runs.get(runId);
  if (!run) throw new PmlError('not_found', `Run ${runId} not found`, { hint: 'See "pml runs ls".' });
  const [key, state] = waitingTask(run, edit.task);
  const tool = toolOf(run, key, state);
  const { proposed, tool: known } = await scope.findTool({ tool, arguments: {} });
  checkEdit(scope, tool, known.inputSchema, edit.arguments);

  const before = await store.approvals.get(state.approval_id);
  const by = `${edit.by}, who edited the arguments`;
  if (!before || !(await approvals.settle(before, 'rejected', by))) throw decidedBefore(runId);
  const approval: Approval = {
    ...before,
    id: crypto.randomUuid(),
    argumentsHash: exactCall(ports, proposed ?? known, edit.arguments),
    arguments: edit.arguments,
    state: 'pending',
    requestedAt: clock.now(),
    settledAt: null,
    settledBy: null,
  };
  await approvals.ask(approval, { arguments: edit.arguments });
  const edited = { ...carriedBy(state), edited_arguments: edit.arguments };
  await store.runs.update({
    ...run,
    ...(run.kind === 'call' && { plan: withArguments(run.plan, edit.arguments) }),
    tasks: { [key]: { ...edited, status: state.status, approval_id: approval.id } },
    version: run.version + 1,
    updatedAt: clock.now(),
  });
  const { id: approval_id, node, argumentsHash: arguments_hash } = approval;
  await recordEdit(ports, approval, edit.by);
  await recordDecision(ports, {
    runId,
    eventType: 'hil_decision',
    taskId: key,
    data: { decision: 'edited', by: edit.by, node, approval_id, arguments_hash },
  });
  return approval;
}

function waitingTask(run: WorkflowRun, task: string | undefined): [string, WaitingState] {
  const all = [...storedStates(run.tasks)].filter(
    (entry): entry is [string, WaitingState] =>
      entry[1].status === 'waiting' || entry[1].status === 'unknown',
  );
  const found = run.status === 'paused' ? all.filter(([key]) => task === undefined || key === task) : [];
  const [only] = found;
  if (only && found.length === 1) return only;
  const names = all
    .map(([key]) => key)
    .sort()
    .join(', ');
  throw new PmlError(
    found.length > 1 ? 'invalid_argument' : 'not_found',
    found.length > 1
      ? `Several tasks of run ${run.id} wait: ${names}`
      : `No ${task === undefined ? 'task' : `task ${task}`} of run ${run.id} is waiting for a decision`,
    { hint: found.length > 1 ? 'Specify which one.' : `See "pml runs show ${run.id}".` },
  );
}

/** Within code the call is made by the program; there is nothing to put in its place. */
function toolOf({ plan }: WorkflowRun, key: string, { standing }: WaitingState): string {
  const id = key.replace(/\[\d+\]$/, '');
  const tool = standing ? undefined : plan?.tasks.find((task) => task.id === id)?.tool;
  if (tool !== undefined) return tool;
  throw new PmlError('not_available', `${key} is not a tool call: its arguments cannot be edited`, {
    hint: 'Reject it, or let it run.',
  });
}

function checkEdit({ ports }: RunScope, tool: string, schema: unknown, args: JsonObject): void {
  const problems = checkArguments(schema, args);
  if (problems.length > 0) {
    throw new PmlError('invalid_argument', `${tool} cannot run with these arguments: ${problems.join('; ')}`);
  }
  if (canonicalJson(ports.redact(args)) !== canonicalJson(args)) {
    throw new PmlError('invalid_argument', 'These arguments contain secrets, which are not stored', {
      hint: 'Let the agent make the call again.',
    });
  }
}

function withArguments(plan: Plan | null, args: JsonObject): Plan | null {
  return plan && { ...plan, tasks: plan.tasks.map((task) => ({ ...task, arguments: args })) };
}

function decidedBefore(runId: string): PmlError {
  return new PmlError('store_conflict', `Run ${runId} is no longer waiting for a decision`, {
    hint: `See who decided with "pml runs show ${runId}".`,
  });
}
