import { type PlannedStep, whyNotByItself } from '../../core/policy/decide.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { judge } from '../calls/call-tool.ts';
import type { CodeScope } from '../code/code-scope.ts';
import type { IntentCall, IntentRun, Suggestion, WorkflowResult } from '../gateway.ts';

export interface IntentParts {
  readonly scope: CodeScope;
  readonly suggest: (intent: string, caller: Caller) => Promise<Suggestion>;
  readonly run: (plan: Plan) => Promise<WorkflowResult>;
}

/** From an intent to a run where the plan may run by itself; else only the plan, and why. */
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
  const { permissions, learning } = scope.settings;
  const why = whyNotByItself(permissions, {
    steps: await Promise.all(plan.tasks.map((task) => stepOf(scope, task))),
    confidence: suggestion.confidence,
    support: suggestion.support,
    missing: inputs.map(({ name }) => name).filter((name) => !Object.hasOwn(plan.arguments, name)),
    ...(learning.runFrom !== undefined && { runFrom: learning.runFrom }),
  });
  return why.length > 0 ? { suggestion, why } : { suggestion, why, run: await run(plan) };
}

async function stepOf(scope: CodeScope, task: Task): Promise<PlannedStep> {
  const name = `${task.id} (${task.tool ?? task.capability ?? 'code'})`;
  try {
    const calls: PlannedStep['calls'][number][] = [];
    for (const id of toolsOf(scope, task, new Set())) {
      const entry = await scope.findTool({ tool: id, arguments: {} });
      calls.push({ tool: entry.tool, verdict: judge(scope.settings, entry) });
    }
    return { name, calls };
  } catch (error) {
    return { name, calls: [], problem: PmlError.from(error).message };
  }
}

/** All the tools that a task calls, within capabilities too; throws where only a run can tell. */
function toolsOf(scope: CodeScope, { tool, capability, code }: BodyOfTask, met: Set<string>): string[] {
  if (tool !== undefined) return [tool];
  if (capability === undefined) return toolsIn(scope, code ?? '', met);
  const known = scope.capabilities.known(capability);
  // Capabilities that call each other in a circle fail when they run; here each is looked at once.
  if (met.has(known.id)) return [];
  met.add(known.id);
  return toolsIn(scope, known.code, met);
}

type BodyOfTask = Pick<Task, 'tool' | 'capability' | 'code'>;

function toolsIn(scope: CodeScope, code: string, met: Set<string>): string[] {
  const prepared = scope.programs.prepare(code);
  if (!prepared.ok) throw new PmlError('invalid_argument', prepared.error.message);
  const { nodes, unresolved } = prepared.value.structure;
  if (unresolved.length > 0) throw new PmlError('not_available', 'only a run can tell what it calls');
  return nodes.flatMap((node) => {
    if (node.type === 'task') return [node.tool];
    return node.type === 'capability' ? toolsOf(scope, { capability: node.slug }, met) : [];
  });
}
