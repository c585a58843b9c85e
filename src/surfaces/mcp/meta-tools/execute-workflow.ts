import { z } from 'zod';
import { planFromWire } from '../../../core/vocabulary/plan-wire.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Caller, Gateway, WorkflowAction, WorkflowResult } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { metaTool } from './meta-tool.ts';
import { workflowAnswer } from './workflow-answer.ts';

export const executeWorkflow = metaTool(
  {
    name: 'pml_execute_workflow',
    title: 'Execute a workflow',
    description:
      'Run several tools in one go: independent tasks in parallel, results handed on with "${id.path}". A task may have when, for_each (a list; "${item}"), retry, timeout_ms. Or run what was suggested: `suggestion_id`, `arguments`. Or carry on a run: `run_id` and `action`.',
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
    suggestion_id: z.string().optional().describe('Of the suggestion it comes from'),
    arguments: z.looseObject({}).optional().describe('Values of its inputs'),
  }),
  async (args, { gateway, shrink }, { caller }) => workflowAnswer(await run(args, gateway, caller), shrink),
);

interface WorkflowArguments {
  readonly workflow?: JsonObject | undefined;
  readonly run_id?: string | undefined;
  readonly action?: WorkflowAction | undefined;
  readonly intent?: string | undefined;
  readonly suggestion_id?: string | undefined;
  readonly arguments?: JsonObject | undefined;
}

async function run(args: WorkflowArguments, gateway: Gateway, caller: Caller): Promise<WorkflowResult> {
  const { workflow, run_id: runId, action, intent, suggestion_id: from } = args;
  if (workflow !== undefined && runId === undefined)
    return await gateway.executeWorkflow(planFromWire(workflow), intent ?? null, caller, undefined, from);
  if (workflow === undefined && runId !== undefined)
    return await gateway.continueRun(runId, action ?? 'status', caller);
  if (workflow === undefined && from !== undefined)
    return await gateway.executeSuggestion(from, args.arguments ?? {}, caller);
  throw new PmlError(
    'invalid_argument',
    'pml_execute_workflow takes one of workflow, suggestion_id, or run_id with action',
  );
}
