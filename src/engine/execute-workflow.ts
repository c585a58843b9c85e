import { withUsedTasks } from '../core/planning/plan/validate-plan.ts';
import type { CodeScope } from './code/code-scope.ts';
import { ofOneRun } from './flow-ports.ts';
import type { Caller, WorkflowResult } from './gateway.ts';
import { asSeenBy } from './people/seen-capabilities.ts';
import { checkPlan } from './workflow/check-plan.ts';
import { driveRun } from './workflow/drive-run.ts';
import type { OpenDrives } from './workflow/open-drives.ts';
import { openRun, type WorkflowRequest } from './workflow/open-run.ts';
import { resumeRun } from './workflow/resume-run.ts';

/** Checks the whole plan, then runs it until it is over or waits. */
export async function executeWorkflow(
  whole: CodeScope,
  drives: OpenDrives,
  request: WorkflowRequest,
  caller: Caller,
): Promise<WorkflowResult> {
  const scope = ofOneRun(asSeenBy(whole, caller));
  const plan = withUsedTasks(request.plan);
  const targets = await checkPlan(scope, plan);
  const run = await openRun(scope, { ...request, plan }, caller);
  if (!run) return await resumeRun(scope, drives, request.runId ?? '', caller);
  const begin = { run, lease: drives.newLease(), plan, targets, isStored: false, goesOn: false };
  return await driveRun(scope, drives, begin, caller);
}
