import { PmlError } from '../core/vocabulary/pml-error.ts';
import { type ExecuteScope, executeTool } from './execute-tool.ts';
import type { Caller, ToolRun, WorkflowAction, WorkflowResult } from './gateway.ts';
import { callOf, endRun } from './paused-runs.ts';
import type { Approval, WorkflowRun } from './ports.ts';
import { toolText, toolValue } from './tool-value.ts';

/** What an agent may do with a run that waits: look, go on once a person has approved, or give it up. */
export async function continueRun(
  scope: ExecuteScope,
  runId: string,
  action: WorkflowAction,
  caller: Caller,
): Promise<WorkflowResult> {
  const { store } = scope.ports;
  const run = await store.runs.get(runId);
  if (!run) throw new PmlError('not_found', `There is no run ${runId}`, { hint: 'See "pml runs ls".' });
  const approvals = await store.approvals.list({ runId });
  if (action === 'abort') return await abort(scope, run, approvals);
  if (action === 'replan') {
    throw new PmlError('not_available', 'A single call cannot be replanned', {
      hint: 'Abort it and make another call.',
    });
  }
  const approved = approvals.find((approval) => approval.state === 'approved');
  if (action === 'status' || run.status !== 'paused' || !approved) return report(run, approvals);

  const tool = await scope.findTool({ tool: approved.node, arguments: {} });
  const definition = tool.proposed ?? tool.tool;
  const call = callOf(scope.ports, run, approved, definition.definitionHash);
  const made = await executeTool(scope, call, caller, runId);
  if (made.status !== 'approval_required') {
    const current = (await store.runs.get(runId)) ?? run;
    await endRun(scope.ports, current, made.status === 'success' ? 'success' : 'error');
  }
  return fromToolRun(made, await store.approvals.list({ runId }));
}

async function abort(
  scope: ExecuteScope,
  run: WorkflowRun,
  approvals: readonly Approval[],
): Promise<WorkflowResult> {
  for (const approval of approvals) {
    if (approval.state === 'pending')
      await scope.desk.settle(approval, 'rejected', 'the agent gave the run up');
  }
  if (run.status === 'paused') await endRun(scope.ports, run, 'aborted');
  return report({ ...run, status: 'aborted' }, await scope.ports.store.approvals.list({ runId: run.id }));
}

function report(run: WorkflowRun, approvals: readonly Approval[]): WorkflowResult {
  const status = run.status === 'paused' ? 'approval_required' : run.status;
  const layers = run.plan ? [run.plan.tasks.map((task) => task.id)] : [];
  return { status, runId: run.id, results: run.tasks, layers, approvals };
}

function fromToolRun(made: ToolRun, approvals: readonly Approval[]): WorkflowResult {
  const status = made.status === 'suggestion' ? 'error' : made.status;
  const failure = made.error ?? (made.status === 'error' && made.result ? toolFailure(made) : undefined);
  return {
    status,
    runId: made.runId,
    results: made.result ? { call: { status, result: toolValue(made.result) } } : {},
    layers: [['call']],
    approvals,
    ...(failure && { error: failure }),
  };
}

function toolFailure(made: ToolRun) {
  return { code: 'tool_failed' as const, message: made.result ? toolText(made.result) : '' };
}
