import { planProblems, withUsedTasks } from '../../core/planning/plan/validate-plan.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import { ofOneRun } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import type { RunResult } from '../runs/run-service.ts';
import type { ActiveRuns } from './active-runs.ts';
import { driveRun } from './drive-run.ts';
import { openRun, type WorkflowRequest } from './open-run.ts';
import { resumeRun } from './resume-run.ts';
import type { TaskPast } from './run-driver.ts';
import { type Target, targetOf } from './targets.ts';

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
    hint: 'Look tools and their arguments up with pml_search_tools. A task is {id, tool | capability | code, arguments, depends_on}.',
  });
}
