import type { Approval, JsonObject } from '../../../engine/ports.ts';

/** What goes over the wire has snake_case names. */

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
