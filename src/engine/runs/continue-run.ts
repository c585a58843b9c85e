import type { RunStatus } from '../../core/vocabulary/pml-error.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { toolText, toolValue } from '../calls/call-tool.ts';
import { executeTool } from '../calls/execute-tool.ts';
import type { CodeScope } from '../code/code-scope.ts';
import { executeCapability, executeCode } from '../code/execute-code.ts';
import type { ToolRun, WorkflowAction, WorkflowResult } from '../gateway.ts';
import { isOwn, maySee, onBehalf } from '../people/roles.ts';
import type { Approval, WorkflowRun } from '../ports.ts';
import type { ActiveRuns } from '../workflow/active-runs.ts';
import { continueWorkflow } from '../workflow/continue-workflow.ts';
import { shownTasks } from '../workflow/task-state.ts';
import { callOf, endRun, pausedCode } from './paused-runs.ts';

/** What an agent may do with a run that waits: look, go on once a person has approved, or give it up. */
export async function continueRun(
  scope: CodeScope,
  activeRuns: ActiveRuns,
  runId: string,
  action: WorkflowAction,
  caller: Caller,
): Promise<WorkflowResult> {
  const { store } = scope.ports;
  const run = await store.runs.get(runId);
  // What one may not see is not there.
  if (!run || (caller.who && !maySee(caller.who, run))) {
    throw new PmlError('not_found', `Run ${runId} not found`, { hint: 'See "pml runs ls".' });
  }
  if (action !== 'status' && !isOwn(caller, run)) {
    throw new PmlError('forbidden', `Run ${runId} is another user's`, {
      hint: 'Its user or an operator may go on with it.',
    });
  }
  if (run.kind === 'workflow') return await continueWorkflow(scope, activeRuns, run, action, caller);
  const approvals = await store.approvals.list({ runId });
  if (action === 'abort') return await abort(scope, run, approvals);
  if (action === 'replan') {
    throw new PmlError('not_available', 'A single call cannot be replanned', {
      hint: 'Abort it and make another call.',
    });
  }
  const approved = approvals.find((approval) => approval.state === 'approved');
  if (action === 'status' || run.status !== 'paused' || !approved) return report(run, approvals);

  const isTool = run.plan?.tasks[0]?.tool !== undefined;
  const behalf = { ...onBehalf(caller, run), origin: run.origin };
  const made = isTool ? await resumeTool(scope, run, approved, behalf) : await resumeCode(scope, run, behalf);
  if (made.status !== 'approval_required') {
    const current = (await store.runs.get(runId)) ?? run;
    await endRun(scope.ports, current, made.status === 'success' ? 'success' : 'error');
  }
  return { ...made, approvals: await store.approvals.list({ runId }) };
}

async function resumeTool(
  scope: CodeScope,
  run: WorkflowRun,
  approved: Approval,
  caller: Caller,
): Promise<WorkflowResult> {
  const tool = await scope.findTool({ tool: approved.node, arguments: {} });
  const definition = tool.proposed ?? tool.tool;
  const call = callOf(scope.ports, run, approved, definition.definitionHash);
  return fromToolRun(await executeTool(scope, call, caller, run.id));
}

/** Runs the code again; calls that were answered before are answered from what was kept. */
async function resumeCode(scope: CodeScope, run: WorkflowRun, caller: Caller): Promise<WorkflowResult> {
  const { work, standing } = pausedCode(scope.ports, run);
  const intent = run.intentText === null ? {} : { intent: run.intentText };
  const made =
    work.capability === undefined
      ? await executeCode(
          scope,
          { source: work.code ?? '', args: work.arguments, ...intent },
          caller,
          standing,
        )
      : await executeCapability(scope, { ...work, ...intent }, caller, standing);
  const { status, runId, result, error } = made;
  return asWorkflow(runId, status, result === undefined ? undefined : { result }, error);
}

async function abort(
  scope: CodeScope,
  run: WorkflowRun,
  approvals: readonly Approval[],
): Promise<WorkflowResult> {
  for (const approval of approvals) {
    if (approval.state === 'pending')
      await scope.approvals.settle(approval, 'rejected', 'the agent gave the run up', 'agent');
  }
  if (run.status === 'paused') await endRun(scope.ports, run, 'aborted');
  return report({ ...run, status: 'aborted' }, await scope.ports.store.approvals.list({ runId: run.id }));
}

function report(run: WorkflowRun, approvals: readonly Approval[]): WorkflowResult {
  const status = run.status === 'paused' ? 'approval_required' : run.status;
  const layers = run.plan ? [run.plan.tasks.map((task) => task.id)] : [];
  return { status, runId: run.id, results: shownTasks(run), layers, approvals };
}

function fromToolRun(made: ToolRun): WorkflowResult {
  const failure = made.error ?? (made.status === 'error' && made.result ? toolFailure(made) : undefined);
  const gave = made.result && { result: toolValue(made.result) };
  return asWorkflow(made.runId, made.status, gave, failure);
}

/** A run of one task, told like any other. */
function asWorkflow(
  runId: string,
  runStatus: RunStatus,
  gave: { readonly result: unknown } | undefined,
  error: ErrorShape | undefined,
): WorkflowResult {
  const status = runStatus === 'suggestion' ? 'error' : runStatus;
  const results: Record<string, unknown> = gave ? { call: { status, ...gave } } : {};
  return { status, runId, results, layers: [['call']], approvals: [], ...(error && { error }) };
}

function toolFailure(made: ToolRun) {
  return { code: 'tool_failed' as const, message: made.result ? toolText(made.result) : '' };
}
