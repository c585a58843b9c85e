import type { SearchHit } from '../../../engine/gateway.ts';
import type { Approval, JsonObject } from '../../../engine/ports.ts';
import { hitToWire } from '../../../operations/shapes/search-hit.ts';

/** What goes over the wire has snake_case names. */

/** The fields the tool's contract names; what a score is made of is for people who look into a ranking. */
export function toolHitToWire(hit: SearchHit): JsonObject {
  const { parts: _, ...promised } = hitToWire(hit);
  return promised;
}

export function approvalToWire(approval: Approval): JsonObject {
  return {
    id: approval.id,
    run_id: approval.runId,
    tool: approval.node,
    arguments: approval.arguments,
    reason: approval.reason,
    state: approval.state,
    requested_at: approval.requestedAt,
  };
}

/** What the model can tell its user; it has no way to decide by itself. */
export function howToSettle(runId: string): JsonObject {
  return {
    approve: `pml runs approve ${runId}`,
    reject: `pml runs reject ${runId}`,
    afterwards: `pml_execute_workflow with run_id "${runId}" and action "resume"`,
    by: 'A person decides, in a terminal or in the dashboard. Tell the user what is asked and why.',
  };
}
