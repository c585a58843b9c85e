import { z } from 'zod';
import { planFromWire } from '../../../core/vocabulary/plan-from-wire.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { metaTool } from './meta-tool.ts';
import { workflowAnswer } from './workflow-answer.ts';

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
    suggestion_id: z.string().optional().describe('Of the suggestion it comes from'),
  }),
  async ({ workflow, run_id, action, intent, suggestion_id }, { gateway, shrink }, { caller }) => {
    if ((workflow === undefined) === (run_id === undefined)) {
      throw new PmlError(
        'invalid_argument',
        'pml_execute_workflow takes either workflow, or run_id with action',
      );
    }
    const result =
      run_id === undefined
        ? await gateway.executeWorkflow(
            planFromWire(workflow),
            intent ?? null,
            caller,
            undefined,
            suggestion_id,
          )
        : await gateway.continueRun(run_id, action ?? 'status', caller);
    return workflowAnswer(result, shrink);
  },
);
