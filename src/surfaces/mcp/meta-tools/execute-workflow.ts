import { planFromWire } from '../../../core/vocabulary/plan.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { RunError, RunResult } from '../../../engine/runs/run.ts';
import type { ExecuteWorkflowArguments } from '../../../operations/execute-workflow.ts';
import { errorToWire } from '../../../operations/shapes/run.ts';
import type { Shrink } from '../results/kept-results.ts';
import { liftMedia } from '../results/lift-media.ts';
import { answer, approvalToWire, errorText, failure, howToSettle, type Present } from './meta-tool.ts';
export const presentExecuteWorkflow: Present<ExecuteWorkflowArguments> = async (
  args,
  toolContext,
  { caller },
) => workflowAnswer(await run(args, toolContext.gateway, caller), toolContext.shrink);

async function run(args: ExecuteWorkflowArguments, gateway: Gateway, caller: Caller): Promise<RunResult> {
  const { workflow, run_id: runId, action, intent, suggestion_id: from } = args;
  if (workflow !== undefined && runId === undefined)
    return await gateway.executeWorkflow(planFromWire(workflow), intent ?? null, caller, undefined, from);
  if (workflow === undefined && runId !== undefined)
    return await gateway.continueRun(runId, action ?? 'status', caller);
  if (workflow === undefined && from !== undefined)
    return await gateway.executeSuggestion(from, args.arguments ?? {}, caller);
  throw new PmlError(
    'invalid_argument',
    'pml_execute_workflow needs workflow, suggestion_id, or run_id with action',
  );
}

/** The actions of an agent after a layer of its workflow. */
const HOW_TO_GO_ON = {
  continue: 'action "continue" runs the next layer',
  replan: 'action "replan" ends the run; pass the "executed" it returns to pml_suggest',
};

/** The state of a run and the results of its tasks, with the fields of `more`; `given`, if any, is all the text. */
export function workflowAnswer(
  result: RunResult,
  shrink: Shrink,
  more: JsonObject = {},
  given?: string,
): JsonObject {
  const links: JsonObject[] = [];
  const lines: string[] = [];
  const each = shrink.shared(Object.keys(result.results).length);
  let media: readonly JsonObject[] = [];
  const results = Object.entries(result.results).map(([id, state]) => {
    const shown = stateToWire(state, (value) => {
      const lifted = liftMedia(value, media);
      media = lifted.media;
      const shrunk = each.value(lifted.value);
      links.push(...shrunk.links);
      lines.push(`${id}: ${shrunk.text}`);
      return shrunk.value;
    });
    if (!hasResult(state)) lines.push(`${id}: ${stateText(state)}`);
    return [id, shown];
  });
  const facts = {
    status: result.status,
    run_id: result.runId,
    results: Object.fromEntries(results),
    layers: result.layers,
    approvals: result.approvals.map(approvalToWire),
    ...(result.error && { error: errorToWire(result.error) }),
    ...(result.next && { next: result.next, how_to_go_on: HOW_TO_GO_ON }),
    ...(result.executed && { executed: result.executed }),
    ...more,
  };
  const blocks = [...links, ...media];
  if (result.status === 'success') return answer(facts, blocks, given ?? lines.join('\n'));
  const run = `run_id: ${result.runId}`;
  if (result.status === 'error') {
    const why = result.error ? errorText(errorToWire(result.error)) : 'error';
    return failure(facts, blocks, [why, ...lines, run].join('\n'));
  }
  if (result.status === 'decision_required') {
    const next = `next: ${result.next?.join(', ')}; ${Object.values(HOW_TO_GO_ON).join('; ')}`;
    return answer(facts, blocks, [...lines, next, run].join('\n'));
  }
  const waits = result.status === 'approval_required' ? { how_to_settle: howToSettle(result.runId) } : {};
  return answer({ ...facts, ...waits }, blocks);
}

function hasResult(state: unknown): boolean {
  return typeof state !== 'object' || state === null || 'result' in state;
}

/** A task without a result, in a few words. */
function stateText(state: unknown): string {
  const { status, error, because } = state as { status?: string; error?: RunError; because?: string };
  if (error) return errorText(error);
  return because === undefined ? String(status) : `${status}, ${because}`;
}

function stateToWire(state: unknown, show: (value: unknown) => unknown): unknown {
  if (typeof state !== 'object' || state === null) return show(state);
  const { result, ...rest } = state as { result?: unknown };
  return { ...rest, ...(result !== undefined && { result: show(result) }) };
}
