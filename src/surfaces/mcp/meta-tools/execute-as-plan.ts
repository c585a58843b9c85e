import type { Caller, CodeCall, IntentCall } from '../../../engine/gateway.ts';
import { intentRunToWire } from '../../../engine/gateway-wire.ts';
import type { JsonObject } from '../../../engine/ports.ts';
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
  if (!made.run) return answer(intentRunToWire(made));
  const { plan, confidence } = intentRunToWire(made) as JsonObject;
  return workflowAnswer(made.run, shrink, { plan, confidence });
}
