import type { Approval, JsonObject } from '../../../engine/ports.ts';

/** Fields on the wire are in snake_case. */

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

/** For the model to tell its user; the model itself cannot decide. */
export function howToSettle(runId: string): JsonObject {
  return {
    approve: `pml runs approve ${runId}`,
    always: 'add --always tool, --always arguments or --always session to the approval',
    reject: `pml runs reject ${runId}`,
    afterwards: `pml_execute_workflow with run_id "${runId}" and action "resume"`,
    by: 'A person decides, in a terminal or in the dashboard. Tell the user which call waits and why.',
  };
}
