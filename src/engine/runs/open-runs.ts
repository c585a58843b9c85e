import { withAllGiven, withGiven } from '../../core/planning/plan/given-values.ts';
import { type PlannedStep, whyNotByItself } from '../../core/policy/decide.ts';
import { runKindOf } from '../../core/vocabulary/execution-trace.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { judge } from '../calls/call-tool.ts';
import { showExact } from '../calls/show-approval.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { LiveCatalogue } from '../catalogue/catalogue.ts';
import type { Suggestion, Suggestions } from '../learning/suggest.ts';
import type { ActiveRuns } from '../workflow/active-runs.ts';
import { executeAsPlan, planFromCode } from '../workflow/execute-as-plan.ts';
import { executeWorkflow } from '../workflow/execute-workflow.ts';
import { continueRun } from './continue-run.ts';
import { forkRun, replayRun } from './replay-run.ts';
import { forkWorkflow, replayWorkflow } from './replay-workflow.ts';
import type { RunScope } from './run-scope.ts';
import type { IntentCall, IntentRun, RunResult, RunService } from './run-service.ts';
import { editCall, settleRun } from './settle-run.ts';
import { createSingleRuns } from './single-run.ts';

export interface RunParts {
  readonly scope: () => RunScope;
  readonly activeRuns: ActiveRuns;
  readonly suggestions: Pick<Suggestions, 'log' | 'suggest'>;
  readonly catalogue: LiveCatalogue;
}

/** Everything that runs: one tool, a program, a capability, a plan; and runs that wait for somebody. */
export function openRuns({ scope, activeRuns, suggestions, catalogue }: RunParts): RunService {
  const { ports, approvals } = scope();
  const { crypto } = ports;

  /** Runs a plan and notes what became of the suggestion it came from, if it came from one. */
  const runPlan = async (
    plan: Plan,
    intent: string | null,
    caller: Caller,
    runId: string,
    suggestionId?: string,
  ): Promise<RunResult> => {
    const run = (why: string | null) =>
      executeWorkflow(scope(), activeRuns, { plan, intent: why, runId }, caller);
    if (suggestionId === undefined) return await run(intent);
    const from = await suggestions.log.get(suggestionId);
    suggestions.log.expect(runId);
    const made = await run(intent ?? from.intentText);
    await suggestions.log.ran(from, plan, made.runId);
    return made;
  };

  return {
    ...createSingleRuns(scope),
    executeWorkflow: (plan, intent, caller, runId = crypto.randomUuid(), suggestionId) =>
      runPlan(plan, intent, caller, runId, suggestionId),
    async executeSuggestion(suggestionId, args, caller, runId = crypto.randomUuid()) {
      const { plan } = await suggestions.log.get(suggestionId);
      return await runPlan(withAllGiven(plan, args), null, caller, runId, suggestionId);
    },
    planFromCode: (code, args) => planFromCode(scope(), code, args),
    executeAsPlan: (call, caller, runId) => executeAsPlan(scope(), activeRuns, call, caller, runId),
    executeIntent: (call, caller, runId = crypto.randomUuid()) => {
      // The suggestion stays open: that PML runs it does not mean that anybody took it.
      const run = (plan: Plan) => runPlan(plan, call.intent, { ...caller, origin: 'self' }, runId);
      const parts = { scope: asSeenBy(scope(), caller), suggest: suggestions.suggest, run };
      return executeIntent(parts, call, caller);
    },
    continueRun: (runId, action, caller) => continueRun(scope(), activeRuns, runId, action, caller),

    forkRun: (trace, fork, caller) =>
      runKindOf(trace) === 'workflow'
        ? forkWorkflow(scope(), activeRuns, trace, fork, caller)
        : forkRun(scope(), trace, fork, caller),
    replayRun: (trace, options, caller) =>
      runKindOf(trace) === 'workflow'
        ? replayWorkflow(scope(), trace, options, caller)
        : replayRun(scope(), trace, options, caller),

    settleApproval: (runId, decision, by, approvalIds, beyond = {}) =>
      settleRun(
        { ports, approvals, catalogue },
        { runId, decision, by, ...beyond, ...(approvalIds && { approvalIds }) },
      ),
    async showExact(runs) {
      const parts = { ports, calls: approvals.calls, catalogue: catalogue.current };
      return runs.map((run) => showExact(parts, run));
    },
    editCall: (runId, edit) => editCall(scope(), runId, edit),
  };
}

interface IntentParts {
  readonly scope: RunScope;
  readonly suggest: (intent: string, caller: Caller) => Promise<Suggestion>;
  readonly run: (plan: Plan) => Promise<RunResult>;
}

/** From an intent to a run where the plan may run by itself; else only the plan, and why. */
export async function executeIntent(
  { scope, suggest, run }: IntentParts,
  { intent, arguments: args = {} }: IntentCall,
  caller: Caller,
): Promise<IntentRun> {
  const suggestion = await suggest(intent, caller);
  const { inputs } = suggestion.plan;
  // A caller who gives values for an intent has not seen the plan yet: what it has no place for is left out.
  const { plan } = withGiven(suggestion.plan, args);
  const known = plan.arguments ?? {};
  const { permissions, learning } = scope.settings;
  const why = whyNotByItself(permissions, {
    steps: await Promise.all(plan.tasks.map((task) => stepOf(scope, task))),
    confidence: suggestion.confidence,
    support: suggestion.support,
    missing: [
      ...inputs.map(({ name }) => name).filter((name) => !Object.hasOwn(known, name)),
      ...suggestion.guesses.filter((name) => !Object.hasOwn(args, name)),
    ],
    ...(learning.runFrom !== undefined && { runFrom: learning.runFrom }),
  });
  return why.length > 0 ? { suggestion, why } : { suggestion, why, run: await run(plan) };
}

async function stepOf(scope: RunScope, task: Task): Promise<PlannedStep> {
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
function toolsOf(scope: RunScope, { tool, capability, code }: BodyOfTask, met: Set<string>): string[] {
  if (tool !== undefined) return [tool];
  if (capability === undefined) return toolsIn(scope, code ?? '', met);
  const known = scope.capabilities.known(capability);
  // Capabilities that call each other in a circle fail when they run; here each is looked at once.
  if (met.has(known.id)) return [];
  met.add(known.id);
  return toolsIn(scope, known.code, met);
}

type BodyOfTask = Pick<Task, 'tool' | 'capability' | 'code'>;

function toolsIn(scope: RunScope, code: string, met: Set<string>): string[] {
  const prepared = scope.programs.prepare(code);
  if (!prepared.ok) throw new PmlError('invalid_argument', prepared.error.message);
  const { nodes, unresolved } = prepared.value.structure;
  if (unresolved.length > 0) throw new PmlError('not_available', 'only a run can tell what it calls');
  return nodes.flatMap((node) => {
    if (node.type === 'task') return [node.tool];
    return node.type === 'capability' ? toolsOf(scope, { capability: node.slug }, met) : [];
  });
}
