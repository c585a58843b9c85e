import { planProblems } from '../../core/planning/plan/validate-plan.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { CodeScope } from '../code/code-scope.ts';
import { type Target, targetOf } from './targets.ts';

/** Refuses a plan with all that is wrong with it; answers what its tasks run. */
export async function checkPlan(scope: CodeScope, plan: Plan): Promise<Target[]> {
  const targets = await Promise.all(plan.tasks.map((task) => targetOf(scope, task)));
  const problems = planProblems(plan, targets);
  if (problems.length === 0) return targets;
  throw new PmlError('invalid_argument', `The workflow cannot run: ${problems.join('; ')}`, {
    hint: 'Look tools and their arguments up with pml_search_tools. A task is {id, tool | capability | code, arguments, depends_on}.',
  });
}
