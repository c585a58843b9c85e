import { z } from 'zod';
import { planFromWire } from '../../../core/vocabulary/plan-from-wire.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { WorkflowResult } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Shrink } from '../results/shrink.ts';
import { answer, errorToWire, failure } from './answer.ts';
import { metaTool } from './meta-tool.ts';
import { approvalToWire, howToSettle } from './wire.ts';

/** After a layer of a workflow whose agent decides. */
const HOW_TO_GO_ON = {
  continue: 'action "continue" runs the next layer',
  replan: 'action "replan" ends the run; give what it says is executed to pml_suggest',
};

export const executeWorkflow = metaTool(
  {
    name: 'pml_execute_workflow',
    title: 'Execute a workflow',
    description:
      'Run several tools in one go: independent tasks in parallel, results handed on with "${id.path}". A task may have when, for_each (a list; "${item}"), retry, timeout_ms. Or carry on a run: `run_id` and `action`.',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  z.object({
    workflow: z
      .looseObject({})
      .optional()
      .describe(
        '{tasks: [{id, tool | capability | code, arguments, depends_on}], decide: "layers" to stop after each}',
      ),
    run_id: z.string().min(1).optional(),
    action: z.enum(['status', 'continue', 'replan', 'resume', 'abort']).optional(),
    intent: z.string().min(1).optional().describe('Why, in plain words'),
  }),
  async ({ workflow, run_id, action, intent }, { gateway, shrink }, { caller }) => {
    if ((workflow === undefined) === (run_id === undefined)) {
      throw new PmlError(
        'invalid_argument',
        'pml_execute_workflow takes either workflow, or run_id with action',
      );
    }
    const result =
      run_id === undefined
        ? await gateway.executeWorkflow(planFromWire(workflow), intent ?? null, caller)
        : await gateway.continueRun(run_id, action ?? 'status', caller);
    return toAnswer(result, shrink);
  },
);

function toAnswer(result: WorkflowResult, shrink: Shrink): JsonObject {
  const links: JsonObject[] = [];
  const each = shrink.shared(Object.keys(result.results).length);
  const results = Object.entries(result.results).map(([id, state]) => {
    const shown = stateToWire(state, (value) => {
      const shrunk = each.value(value);
      links.push(...shrunk.links);
      return shrunk.value;
    });
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
  };
  if (result.status === 'error') return failure(facts, links);
  const waits = result.status === 'approval_required' ? { how_to_settle: howToSettle(result.runId) } : {};
  return answer({ ...facts, ...waits }, links);
}

function stateToWire(state: unknown, show: (value: unknown) => unknown): unknown {
  if (typeof state !== 'object' || state === null) return show(state);
  const { result, ...rest } = state as { result?: unknown };
  return { ...rest, ...(result !== undefined && { result: show(result) }) };
}
