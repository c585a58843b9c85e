import { planProblems, withUsedTasks } from '../../core/planning/plan/validate-plan.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import { narrowed } from '../people/roles.ts';
import type { Store, WorkflowRun } from '../ports.ts';
import { ofOneRun, type RunResult } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import type { ActiveRuns } from './active-runs.ts';
import { driveRun } from './drive-run.ts';
import { openRun, type WorkflowRequest } from './open-run.ts';
import type { TaskPast } from './run-driver.ts';
import { type Target, targetOf } from './targets.ts';
import { tellStored } from './tell-workflow.ts';

/** Checks the whole plan, then runs it until it is over or waits. */
export async function executeWorkflow(
  whole: RunScope,
  activeRuns: ActiveRuns,
  request: WorkflowRequest,
  caller: Caller,
  past?: TaskPast,
): Promise<RunResult> {
  const scope = ofOneRun(asSeenBy(whole, caller));
  const plan = withUsedTasks(request.plan);
  const targets = await checkPlan(scope, plan);
  const run = await openRun(scope, { ...request, plan }, caller);
  if (!run) return await resumeRun(scope, activeRuns, request.runId ?? '', caller);
  const begin = { run, lease: activeRuns.newLease(), plan, targets, isStored: false, goesOn: false, past };
  return await driveRun(scope, activeRuns, begin, caller);
}

/** Refuses a plan with all that is wrong with it; answers what its tasks run. */
async function checkPlan(scope: RunScope, plan: Plan): Promise<Target[]> {
  const targets = await Promise.all(plan.tasks.map((task) => targetOf(scope, task)));
  const problems = planProblems(plan, targets);
  if (problems.length === 0) return targets;
  throw new PmlError('invalid_argument', `The workflow cannot run: ${problems.join('; ')}`, {
    hint: 'Look up tools and their arguments with pml_search_tools. A task is {id, tool | capability | code, arguments, depends_on}.',
  });
}

/** Continues a workflow from its stored state; a run that another process drives, or that is over, is only reported. */
export async function resumeRun(
  whole: RunScope,
  activeRuns: ActiveRuns,
  runId: string,
  caller: Caller,
  goesOn = false,
): Promise<RunResult> {
  const scope = ofOneRun(whole);
  const { store } = scope.ports;
  const lease = activeRuns.newLease();
  const claimed = await store.runs.claim(runId, lease);
  if (!claimed) {
    const stored = await store.runs.get(runId);
    if (!stored) throw new PmlError('not_found', `Run ${runId} not found`);
    return tellStored(stored, await store.approvals.list({ runId }));
  }
  const run = await asNow(store, claimed);
  const plan = run.plan ?? { tasks: [], inputs: [] };
  const targets = await Promise.all(plan.tasks.map((task) => targetOf(scope, task)));
  return await driveRun(scope, activeRuns, { run, lease, plan, targets, isStored: true, goesOn }, caller);
}

/** A key that was narrowed since it began the run is held to both scopes. */
async function asNow(store: Store, run: WorkflowRun): Promise<WorkflowRun> {
  const { begunWith } = run;
  if (!begunWith || begunWith.keyId === null) return run;
  const key = await store.keys.get(begunWith.keyId);
  const scope = narrowed(key?.scope, begunWith.scope);
  return { ...run, begunWith: { ...begunWith, ...(scope && { scope }) } };
}
