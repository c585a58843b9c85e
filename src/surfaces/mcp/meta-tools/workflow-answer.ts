import type { WorkflowResult } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Shrink } from '../results/shrink.ts';
import { answer, errorToWire, failure } from './meta-tool.ts';
import { approvalToWire, howToSettle } from './wire.ts';

/** After a layer of a workflow whose agent decides. */
const HOW_TO_GO_ON = {
  continue: 'action "continue" runs the next layer',
  replan: 'action "replan" ends the run; give what it says is executed to pml_suggest',
};

/** Where a run came to rest, with what its tasks gave; `more` is told besides. */
export function workflowAnswer(result: WorkflowResult, shrink: Shrink, more: JsonObject = {}): JsonObject {
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
    ...more,
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
