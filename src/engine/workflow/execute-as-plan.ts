import { codeToPlan } from '../../core/planning/code/code-to-plan.ts';
import { planToCode } from '../../core/planning/code/plan-to-code.ts';
import { isReference, resolveReferences } from '../../core/planning/plan/references.ts';
import { planProblems } from '../../core/planning/plan/validate-plan.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { JsonObject } from '../ports.ts';
import type { RunResult } from '../runs/run.ts';
import type { CodeCall, PlannedCode } from '../runs/run-requests.ts';
import type { RunScope } from '../runs/run-scope.ts';
import type { ActiveRuns } from './active-runs.ts';
import { executeWorkflow } from './execute-workflow.ts';

/** Turns code into a plan and runs it as one. */
export async function executeAsPlan(
  scope: RunScope,
  activeRuns: ActiveRuns,
  { code, arguments: args = {}, intent }: CodeCall,
  caller: Caller,
  runId?: string,
): Promise<RunResult> {
  const { plan, result } = await planFromCode(scope, code, args);
  const made = await executeWorkflow(scope, activeRuns, { plan, intent: intent ?? null, runId }, caller);
  return made.status === 'success' ? { ...made, result: resultOf(result, made, args) } : made;
}

export async function planFromCode(scope: RunScope, code: string, args?: JsonObject): Promise<PlannedCode> {
  const reading = await readingTools(scope, code);
  const made = codeToPlan(code, {
    onlyReads: ({ tool }) => tool !== undefined && reading.has(tool),
    ...(args && { args }),
  });
  if (!made.ok) {
    throw new PmlError(
      'invalid_argument',
      `This code cannot be converted to a plan: ${made.reasons.join('; ')}`,
      {
        hint: 'Run it as code, or change these lines. See docs/workflows.md.',
      },
    );
  }
  const { plan, result } = made;
  return { plan, ...(result !== undefined && { result }) };
}

/** A plan as code, or all that is wrong with it as far as its text tells. */
export function codeFromPlan(plan: Plan): string {
  const anything = { name: '', schema: {}, isRepeatable: true, problems: [] };
  const inputs = Object.fromEntries(plan.inputs.map(({ name }) => [name, null]));
  const filled = { ...plan, arguments: { ...inputs, ...plan.arguments } };
  const problems = planProblems(
    filled,
    plan.tasks.map(() => anything),
  );
  if (problems.length === 0) return planToCode(plan);
  throw new PmlError('invalid_argument', `The workflow cannot run: ${problems.join('; ')}`);
}

/** Those of the tools that the code names which say of themselves that they only read. */
async function readingTools({ programs, findTool }: RunScope, code: string): Promise<Set<string>> {
  const prepared = programs.prepare(code);
  const nodes = prepared.ok ? prepared.value.structure.nodes : [];
  const tools = new Set(nodes.flatMap((node) => (node.type === 'task' ? [node.tool] : [])));
  const found = [...tools].map(async (tool) => {
    const entry = await findTool({ tool, arguments: {} }).catch(() => null);
    return entry?.tool.annotations?.readOnlyHint === true ? [tool] : [];
  });
  return new Set((await Promise.all(found)).flat());
}

/** What the program returns; what was skipped is not there, as in the program. */
function resultOf(template: unknown, { results }: RunResult, args: JsonObject): unknown {
  const gave = Object.entries(results).flatMap(([id, state]) => {
    const { status, result } = state as { status: string; result?: unknown };
    return status === 'success' ? [[id, result]] : [];
  });
  return filled(template, { ...args, ...Object.fromEntries(gave) });
}

function filled(template: unknown, values: JsonObject): unknown {
  if (isReference(template)) {
    try {
      return resolveReferences(template, values);
    } catch {
      return undefined;
    }
  }
  if (Array.isArray(template)) return template.map((item) => filled(item, values) ?? null);
  if (template === null || typeof template !== 'object') return resolveReferences(template, values);
  const fields = Object.entries(template).map(([name, field]) => [name, filled(field, values)] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
