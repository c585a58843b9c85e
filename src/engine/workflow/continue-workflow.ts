import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { recordDecision } from '../calls/approvals.ts';
import type { CodeScope } from '../code/code-scope.ts';
import type { WorkflowAction, WorkflowResult } from '../gateway.ts';
import type { WorkflowRun } from '../ports.ts';
import type { ActiveRuns } from './active-runs.ts';
import { resumeRun } from './resume-run.ts';
import { targetOf } from './targets.ts';
import { storedStates } from './task-state.ts';
import { tellStored } from './tell-workflow.ts';

const DEFAULTS = {
  /** How often an end is written again because another process wrote meanwhile. */
  endings: 5,
};

/** What may be done with a workflow that is there: look, continue, plan again from what is done, abort. */
export async function continueWorkflow(
  scope: CodeScope,
  activeRuns: ActiveRuns,
  run: WorkflowRun,
  action: WorkflowAction,
  caller: Caller,
): Promise<WorkflowResult> {
  const { ports } = scope;
  const { isPerson = false } = caller;
  const decided = (chosen: WorkflowAction) =>
    recordDecision(ports, {
      runId: run.id,
      eventType: isPerson ? 'hil_decision' : 'ail_decision',
      data: { action: chosen },
    });
  switch (action) {
    case 'status':
      return tellStored(run, await ports.store.approvals.list({ runId: run.id }));
    case 'abort':
      await decided(action);
      return await end(scope, activeRuns, run);
    case 'replan':
      return await replan(scope, activeRuns, run, () => decided(action));
    case 'continue':
      await decided(action);
      return await resumeRun(scope, activeRuns, run.id, caller, true);
    case 'resume':
      // A person who takes the run up has seen where it stands.
      return await resumeRun(scope, activeRuns, run.id, caller, isPerson);
  }
}

/** Ends the run and says what is done, so that the rest can be planned. */
async function replan(
  scope: CodeScope,
  activeRuns: ActiveRuns,
  run: WorkflowRun,
  decided: () => Promise<void>,
): Promise<WorkflowResult> {
  if (run.status === 'running') {
    throw new PmlError('store_conflict', `Run ${run.id} is under way`, {
      hint: 'Plan again when it waits or is over, or abort it.',
    });
  }
  await decided();
  const told = await end(scope, activeRuns, run);
  return { ...told, executed: await executedNodes(scope, run) };
}

async function executedNodes(scope: CodeScope, { plan, tasks }: WorkflowRun): Promise<string[]> {
  const states = storedStates(tasks);
  const done = (plan?.tasks ?? []).flatMap((task) => {
    const state = states.get(task.id);
    return state?.status === 'success' ? [{ task, at: state.at }] : [];
  });
  done.sort((a, b) => a.at - b.at);
  return await Promise.all(done.map(async ({ task }) => (await targetOf(scope, task)).node));
}

/** Aborts an unfinished run; the process that drives it stops. Completed calls are not undone. */
async function end(
  { ports, approvals }: CodeScope,
  activeRuns: ActiveRuns,
  run: WorkflowRun,
): Promise<WorkflowResult> {
  const { store, clock } = ports;
  let current = run;
  for (let tries = 1; current.status === 'running' || current.status === 'paused'; tries++) {
    try {
      const version = current.version + 1;
      await store.runs.update({ ...current, tasks: {}, status: 'aborted', version, updatedAt: clock.now() });
    } catch (error) {
      if (PmlError.from(error).code !== 'store_conflict' || tries >= DEFAULTS.endings) throw error;
    }
    current = (await store.runs.get(run.id)) ?? { ...current, status: 'aborted' };
  }
  activeRuns.stop(run.id);
  const pending = await store.approvals.list({ runId: run.id, state: 'pending' });
  for (const approval of pending)
    await approvals.settle(approval, 'rejected', 'the run was given up', 'agent');
  return tellStored(current, await store.approvals.list({ runId: run.id }));
}
