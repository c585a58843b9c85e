import { withAllGiven, withGiven } from '../../core/planning/suggest/suggest-plan.ts';
import { type PlannedStep, whyNotByItself } from '../../core/policy/decide.ts';
import { runKindOf } from '../../core/vocabulary/execution-trace.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { recordDecision } from '../calls/approvals.ts';
import { judge } from '../calls/call-tool.ts';
import { showExact } from '../calls/show-approval.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { LiveCatalogue } from '../catalogue/catalogue.ts';
import type { Suggestion, Suggestions } from '../learning/suggest.ts';
import { isOfItsKey, isOwn, maySee } from '../people/roles.ts';
import type { Approval, WorkflowRun } from '../ports.ts';
import type { ActiveRuns } from '../workflow/active-runs.ts';
import { executeAsPlan, planFromCode } from '../workflow/execute-as-plan.ts';
import { executeWorkflow, resumeRun } from '../workflow/execute-workflow.ts';
import { targetOf } from '../workflow/targets.ts';
import { storedStates } from '../workflow/task-state.ts';
import { tellStored } from '../workflow/tell-workflow.ts';
import { forkRun, replayRun } from './replay-run.ts';
import { forkWorkflow, replayWorkflow } from './replay-workflow.ts';
import type { RunResult } from './run.ts';
import type { IntentCall, RunAction } from './run-requests.ts';
import type { RunScope } from './run-scope.ts';
import type { IntentRun, RunService } from './run-service.ts';
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
  if (unresolved.length > 0) throw new PmlError('not_available', 'what it calls is known only at run time');
  return nodes.flatMap((node) => {
    if (node.type === 'task') return [node.tool];
    return node.type === 'capability' ? toolsOf(scope, { capability: node.slug }, met) : [];
  });
}

const DEFAULTS = {
  /** How often an end is written again because another process wrote meanwhile. */
  endings: 5,
};

/** What may be done with a run that is there: look, continue, plan again from what is done, abort. */
async function continueRun(
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
    throw new PmlError('forbidden', `Run ${runId} belongs to another user`, {
      hint: 'Its user or an operator can continue it.',
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
  throw new PmlError(
    'invalid_argument',
    `Run ${id} cannot continue: its call contained secrets, which are not stored`,
    {
      hint: 'Make the same call again with pml_execute: the approval is waiting for it.',
    },
  );
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
    throw new PmlError('store_conflict', `Run ${run.id} is still running`, {
      hint: 'Replan it when it waits or has ended, or abort it.',
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
    await approvals.settle(approval, 'rejected', 'the run was abandoned', 'agent');
  return tellStored(current, await store.approvals.list({ runId: run.id }));
}
