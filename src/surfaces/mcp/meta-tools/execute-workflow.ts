import { planFromWire } from '../../../core/vocabulary/plan-wire.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import type { RunResult } from '../../../engine/runs/run-service.ts';
import type { ExecuteWorkflowArguments } from '../../../operations/execute-workflow.ts';
import type { Present } from './meta-tool.ts';
import { workflowAnswer } from './workflow-answer.ts';

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
