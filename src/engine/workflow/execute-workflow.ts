import { withUsedTasks } from '../../core/planning/plan/validate-plan.ts';
import { asSeenBy } from '../capabilities/seen-capabilities.ts';
import type { CodeScope } from '../code/code-scope.ts';
import { ofOneRun } from '../flow-ports.ts';
import type { Caller, WorkflowResult } from '../gateway.ts';
import type { ActiveRuns } from './active-runs.ts';
import { checkPlan } from './check-plan.ts';
import { driveRun } from './drive-run.ts';
import { openRun, type WorkflowRequest } from './open-run.ts';
import { resumeRun } from './resume-run.ts';

/** Checks the whole plan, then runs it until it is over or waits. */
export async function executeWorkflow(
  whole: CodeScope,
  activeRuns: ActiveRuns,
  request: WorkflowRequest,
  caller: Caller,
): Promise<WorkflowResult> {
  const scope = ofOneRun(asSeenBy(whole, caller));
  const plan = withUsedTasks(request.plan);
  const targets = await checkPlan(scope, plan);
  const run = await openRun(scope, { ...request, plan }, caller);
  if (!run) return await resumeRun(scope, activeRuns, request.runId ?? '', caller);
  const begin = { run, lease: activeRuns.newLease(), plan, targets, isStored: false, goesOn: false };
  return await driveRun(scope, activeRuns, begin, caller);
}
