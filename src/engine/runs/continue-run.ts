import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { recordDecision } from '../calls/approvals.ts';
import { isOfItsKey, isOwn, maySee } from '../people/roles.ts';
import type { Approval, WorkflowRun } from '../ports.ts';
import type { ActiveRuns } from '../workflow/active-runs.ts';
import { resumeRun } from '../workflow/resume-run.ts';
import { targetOf } from '../workflow/targets.ts';
import { storedStates } from '../workflow/task-state.ts';
import { tellStored } from '../workflow/tell-workflow.ts';
import type { RunScope } from './run-scope.ts';
import type { RunAction, RunResult } from './run-service.ts';

const DEFAULTS = {
  /** How often an end is written again because another process wrote meanwhile. */
  endings: 5,
};

/** What may be done with a run that is there: look, continue, plan again from what is done, abort. */
export async function continueRun(
  scope: RunScope,
  activeRuns: ActiveRuns,
  runId: string,
  action: RunAction,
  caller: Caller,
): Promise<RunResult> {
  const { ports } = scope;
  const { isPerson = false } = caller;
  const run = await ports.store.runs.get(runId);
  // What one may not see is not there.
  if (!run || (caller.who && !maySee(caller.who, run)) || !isOfItsKey(caller, run)) {
    throw new PmlError('not_found', `Run ${runId} not found`, { hint: 'See "pml runs ls".' });
  }
  if (action !== 'status' && !isOwn(caller, run)) {
    throw new PmlError('forbidden', `Run ${runId} is another user's`, {
      hint: 'Its user or an operator may go on with it.',
    });
  }
  const approvals = await ports.store.approvals.list({ runId });
  const decided = () =>
    recordDecision(ports, {
      runId,
      eventType: isPerson ? 'hil_decision' : 'ail_decision',
      data: { action },
    });
  switch (action) {
    case 'status':
      return tellStored(run, approvals);
    case 'abort':
      await decided();
      return await abort(scope, activeRuns, run);
    case 'replan':
      return await replan(scope, activeRuns, run, decided);
    case 'continue':
    case 'resume':
      if (run.kind === 'call' && !mayResume(run, approvals)) return tellStored(run, approvals);
      if (action === 'continue') await decided();
      // A person who takes the run up has seen where it stands.
      return await resumeRun(scope, activeRuns, runId, caller, action === 'continue' || isPerson);
  }
}

/** A single call waits for nothing but a person. Throws where it can never go on. */
function mayResume({ id, status, plan }: WorkflowRun, approvals: readonly Approval[]): boolean {
  if (status !== 'paused') return status === 'running';
  if (!approvals.some(({ state }) => state === 'approved')) return false;
  if (plan?.notKept === undefined) return true;
  throw new PmlError('invalid_argument', `What run ${id} is to do held secrets that were not kept`, {
    hint: 'Make the same call again with pml_execute: the approval is waiting for it.',
  });
}

/** Ends the run and says what is done, so that the rest can be planned. */
async function replan(
  scope: RunScope,
  activeRuns: ActiveRuns,
  run: WorkflowRun,
  decided: () => Promise<void>,
): Promise<RunResult> {
  if (run.kind === 'call') {
    throw new PmlError('not_available', 'A single call cannot be replanned', {
      hint: 'Abort it and make another call.',
    });
  }
  if (run.status === 'running') {
    throw new PmlError('store_conflict', `Run ${run.id} is under way`, {
      hint: 'Plan again when it waits or is over, or abort it.',
    });
  }
  await decided();
  const told = await abort(scope, activeRuns, run);
  return { ...told, executed: await executedNodes(scope, run) };
}

async function executedNodes(scope: RunScope, { plan, tasks }: WorkflowRun): Promise<string[]> {
  const states = storedStates(tasks);
  const done = (plan?.tasks ?? []).flatMap((task) => {
    const state = states.get(task.id);
    return state?.status === 'success' ? [{ task, at: state.at }] : [];
  });
  done.sort((a, b) => a.at - b.at);
  return await Promise.all(done.map(async ({ task }) => (await targetOf(scope, task)).node));
}

/** Aborts an unfinished run; the process that drives it stops. Completed calls are not undone. */
async function abort(
  { ports, approvals }: RunScope,
  activeRuns: ActiveRuns,
  run: WorkflowRun,
): Promise<RunResult> {
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
