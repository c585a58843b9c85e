import { checkArguments } from '../../core/capabilities/validate-arguments.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { recordDecision } from '../calls/approvals.ts';
import { exactCall } from '../calls/ask-person.ts';
import type { ExecuteScope } from '../calls/execute-tool.ts';
import type { CallEdit } from '../gateway.ts';
import { recordEdit } from '../people/audit-trail.ts';
import type { Approval, JsonObject, WorkflowRun } from '../ports.ts';
import { carriedBy, storedStates, type TaskState } from '../workflow/task-state.ts';

type WaitingState = Extract<TaskState, { status: 'waiting' | 'unknown' }>;

/**
 * A person puts other arguments in place of those of a call that waits. What was asked is taken back, and the
 * call as it is now is asked about: another hash, another approval.
 */
export async function editCall(scope: ExecuteScope, runId: string, edit: CallEdit): Promise<Approval> {
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
      : `No ${task === undefined ? 'task' : `task ${task}`} of run ${run.id} waits for a decision`,
    { hint: found.length > 1 ? 'Say which one.' : `See "pml runs show ${run.id}".` },
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

function checkEdit({ ports }: ExecuteScope, tool: string, schema: unknown, args: JsonObject): void {
  const problems = checkArguments(schema, args);
  if (problems.length > 0) {
    throw new PmlError('invalid_argument', `${tool} cannot run with these arguments: ${problems.join('; ')}`);
  }
  if (canonicalJson(ports.redact(args)) !== canonicalJson(args)) {
    throw new PmlError('invalid_argument', 'These arguments hold secrets, which are not kept', {
      hint: 'Let the agent make the call again.',
    });
  }
}

function withArguments(plan: Plan | null, args: JsonObject): Plan | null {
  return plan && { ...plan, tasks: plan.tasks.map((task) => ({ ...task, arguments: args })) };
}

function decidedBefore(runId: string): PmlError {
  return new PmlError('store_conflict', `Nothing of run ${runId} waits for a decision any more`, {
    hint: `See who decided with "pml runs show ${runId}".`,
  });
}
