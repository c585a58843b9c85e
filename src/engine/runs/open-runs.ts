import type { Plan } from '../../core/vocabulary/plan.ts';
import type { Caller } from '../caller.ts';
import { executeTool } from '../calls/execute-tool.ts';
import { showExact } from '../calls/show-approval.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { LiveCatalogue } from '../catalogue/live-catalogue.ts';
import type { CodeScope } from '../code/code-scope.ts';
import { executeCapability, executeCode } from '../code/execute-code.ts';
import type { Gateway } from '../gateway.ts';
import type { Suggestions } from '../learning/suggest.ts';
import { runSuggested, type SuggestedRun } from '../learning/suggestion-log.ts';
import type { ActiveRuns } from '../workflow/active-runs.ts';
import { executeAsPlan, planFromCode } from '../workflow/execute-as-plan.ts';
import { executeWorkflow } from '../workflow/execute-workflow.ts';
import { continueRun } from './continue-run.ts';
import { editCall } from './edit-call.ts';
import { executeIntent } from './execute-intent.ts';
import { settleRun } from './paused-runs.ts';

export type RunService = Pick<
  Gateway,
  | 'executeTool'
  | 'executeCode'
  | 'executeCapability'
  | 'executeWorkflow'
  | 'executeSuggestion'
  | 'planFromCode'
  | 'executeAsPlan'
  | 'executeIntent'
  | 'continueRun'
  | 'runs'
  | 'settleApproval'
  | 'showExact'
  | 'editCall'
>;

export interface RunParts {
  /** What a run works with, as it is at the time. */
  readonly scope: () => CodeScope;
  readonly activeRuns: ActiveRuns;
  readonly suggestions: Pick<Suggestions, 'log' | 'suggest'>;
  readonly catalogue: LiveCatalogue;
}

/** Everything that runs: one tool, a program, a capability, a plan; and runs that wait for somebody. */
export function openRuns({ scope, activeRuns, suggestions, catalogue }: RunParts): RunService {
  const { ports, approvals } = scope();
  const { store, crypto } = ports;
  const runPlan = (request: SuggestedRun, caller: Caller) =>
    runSuggested(suggestions.log, request, (run) => executeWorkflow(scope(), activeRuns, run, caller));

  return {
    executeTool: (call, caller) => executeTool(scope(), call, caller),
    executeCode: ({ code, arguments: args = {}, ...rest }, caller) =>
      executeCode(scope(), { source: code, args, ...rest }, caller),
    executeCapability: (call, caller) => executeCapability(scope(), call, caller),
    executeWorkflow: (plan, intent, caller, runId = crypto.randomUuid(), suggestionId) =>
      runPlan({ plan, intent, runId, suggestionId }, caller),
    async executeSuggestion(suggestionId, args, caller, runId = crypto.randomUuid()) {
      const { plan } = await suggestions.log.get(suggestionId);
      const given = { ...plan, arguments: { ...plan.arguments, ...args } };
      return await runPlan({ plan: given, intent: null, runId, suggestionId }, caller);
    },
    planFromCode: (code, args) => planFromCode(scope(), code, args),
    executeAsPlan: (call, caller, runId) => executeAsPlan(scope(), activeRuns, call, caller, runId),
    executeIntent: (call, caller, runId = crypto.randomUuid()) => {
      // The suggestion stays open: that PML runs it does not mean that anybody took it.
      const run = (plan: Plan) =>
        executeWorkflow(
          scope(),
          activeRuns,
          { plan, intent: call.intent, runId },
          { ...caller, origin: 'self' },
        );
      const parts = { scope: asSeenBy(scope(), caller), suggest: suggestions.suggest, run };
      return executeIntent(parts, call, caller);
    },
    continueRun: (runId, action, caller) => continueRun(scope(), activeRuns, runId, action, caller),

    async runs(limit) {
      const runs = await store.runs.list(limit);
      return await Promise.all(
        runs.map(async (run) => ({ run, approvals: await store.approvals.list({ runId: run.id }) })),
      );
    },
    settleApproval: (runId, decision, by, approvalIds, acceptDefinition = false) =>
      settleRun(
        { ports, approvals, catalogue },
        { runId, decision, by, acceptDefinition, ...(approvalIds && { approvalIds }) },
      ),
    async showExact(runs) {
      const parts = { ports, calls: approvals.calls, catalogue: catalogue.current };
      return runs.map((run) => showExact(parts, run));
    },
    editCall: (runId, edit) => editCall(scope(), runId, edit),
  };
}
