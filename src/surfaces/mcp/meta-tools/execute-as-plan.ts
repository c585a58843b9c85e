import type { Caller, CodeCall, IntentCall, Suggestion } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { intentRunToWire } from '../../../operations/shapes/run.ts';
import { answer } from './answer.ts';
import { unfenced } from './execute-code.ts';
import type { Workshop } from './meta-tool.ts';
import { workflowAnswer } from './workflow-answer.ts';

/** `code` of `pml_execute` with `as_plan`. */
export async function executeAsPlan(
  call: CodeCall,
  { gateway, shrink }: Workshop,
  caller: Caller,
): Promise<JsonObject> {
  const { result, ...made } = await gateway.executeAsPlan({ ...call, code: unfenced(call.code) }, caller);
  const half = shrink.shared(2);
  return workflowAnswer(
    made,
    half,
    made.status === 'success' ? { result: half.value(result ?? null).value } : {},
  );
}

/** `intent` of `pml_execute`, alone. */
export async function executeIntent(
  call: IntentCall,
  { gateway, shrink }: Workshop,
  caller: Caller,
): Promise<JsonObject> {
  const made = await gateway.executeIntent(call, caller);
  if (!made.run) return answer({ ...intentRunToWire(made), ...howToRun(made.suggestion) });
  const { plan, confidence } = intentRunToWire(made) as JsonObject;
  return workflowAnswer(made.run, shrink, { plan, confidence });
}

/** Nobody has to be asked twice: the agent decides. */
function howToRun({ id, plan }: Suggestion): { how_to_run?: JsonObject } {
  if (id === null) return {};
  const needed = plan.inputs.map(({ name }) => [name, '…']);
  const values = needed.length === 0 ? {} : { arguments: Object.fromEntries(needed) };
  const as = (args: object) => `If this plan is what you want: pml_execute_workflow ${JSON.stringify(args)}`;
  return {
    how_to_run: {
      as_it_is: as({ suggestion_id: id, ...values }),
      changed: 'Give the changed plan in "workflow" besides suggestion_id.',
    },
  };
}
