import type { Plan, Task } from '../core/vocabulary/plan.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { judge } from './call-tool.ts';
import type { CodeScope } from './code/code-scope.ts';
import type { Caller, IntentCall, IntentRun, Suggestion, WorkflowResult } from './gateway.ts';

const DEFAULTS = {
  /** Confidence from which a suggested plan is run. */
  runFrom: 0.75,
};

export interface IntentParts {
  readonly scope: CodeScope;
  readonly suggest: (intent: string, caller: Caller) => Promise<Suggestion>;
  readonly run: (plan: Plan, suggestion: Suggestion) => Promise<WorkflowResult>;
}

/** From an intent to a run where the plan is sure enough and nobody has to be asked; else only the plan, and why. */
export async function executeIntent(
  { scope, suggest, run }: IntentParts,
  { intent, arguments: args = {} }: IntentCall,
  caller: Caller,
): Promise<IntentRun> {
  const suggestion = await suggest(intent, caller);
  const { inputs } = suggestion.plan;
  const given = inputs.filter(({ name }) => Object.hasOwn(args, name)).map(({ name }) => [name, args[name]]);
  const plan = {
    ...suggestion.plan,
    arguments: { ...suggestion.plan.arguments, ...Object.fromEntries(given) },
  };
  const why = await reasonsNotToRun(scope, plan, suggestion.confidence);
  return why.length > 0 ? { suggestion, why } : { suggestion, why, run: await run(plan, suggestion) };
}

async function reasonsNotToRun(scope: CodeScope, plan: Plan, confidence: number): Promise<string[]> {
  if (plan.tasks.length === 0) return ['nothing known fits'];
  const { runFrom = DEFAULTS.runFrom } = scope.settings.learning;
  const needed = plan.inputs
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(plan.arguments ?? {}, name));
  const verdicts = await Promise.all(plan.tasks.map((task) => verdictOn(scope, task)));
  return [
    ...(confidence < runFrom
      ? [`its confidence of ${percent(confidence)} is below the ${percent(runFrom)} that are asked for`]
      : []),
    ...(needed.length > 0
      ? [`it needs ${needed.map((name) => `"${name}"`).join(', ')}: give them in "arguments"`]
      : []),
    ...verdicts.flatMap((verdict, i) =>
      verdict === null ? [] : [`${plan.tasks[i]!.id} (${nameOf(plan.tasks[i]!)}) ${verdict}`],
    ),
  ];
}

/** Why a task would not simply run; null where it would. */
async function verdictOn(scope: CodeScope, task: Task): Promise<string | null> {
  try {
    for (const tool of toolsOf(scope, task)) {
      const verdict = judge(scope.settings, await scope.findTool({ tool, arguments: {} }));
      if (verdict.action === 'deny') return `is not allowed: ${verdict.reason}`;
      if (verdict.action === 'ask') return `would ask a person: ${verdict.reason}`;
    }
    return null;
  } catch (error) {
    return `cannot run: ${PmlError.from(error).message}`;
  }
}

/** The tools that a task calls, as far as its text tells. */
function toolsOf(scope: CodeScope, task: Task): string[] {
  if (task.tool !== undefined) return [task.tool];
  const code = task.capability === undefined ? task.code : scope.capabilities.known(task.capability).code;
  const prepared = scope.programs.prepare(code);
  if (!prepared.ok) throw new PmlError('invalid_argument', prepared.error.message);
  const { nodes, unresolved } = prepared.value.structure;
  if (unresolved.length > 0) throw new PmlError('not_available', 'only a run can tell what it calls');
  return nodes.flatMap((node) => {
    if (node.type === 'task') return [node.tool];
    return node.type === 'capability'
      ? toolsOf(scope, { id: '', capability: node.slug, arguments: {}, dependsOn: [] })
      : [];
  });
}

function nameOf({ tool, capability }: Task): string {
  return tool ?? capability ?? 'code';
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
