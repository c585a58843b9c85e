import { z } from 'zod';
import { planFromWire } from '../core/vocabulary/plan-wire.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { jsonObject } from './fields.ts';
import { withHowToSettle } from './how-to-settle.ts';
import { operation } from './operation.ts';
import { workflowAnswer, workflowToWire } from './shapes/run.ts';

const asked = z.object({
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
});

/** What a model gives. */
export type ExecuteWorkflowArguments = z.output<typeof asked>;

export const executeWorkflow = operation({
  name: 'execute_workflow',
  right: 'run',
  summary: 'Runs a plan, or what was suggested; once per run_id',
  input: z.strictObject({
    /** Absent: the suggestion as it is. */
    workflow: z.looseObject({}).optional(),
    intent: z.string().min(1).optional(),
    /** Asking again with the same one gives the same run. */
    run_id: z.string().min(1).max(200).optional(),
    /** Of the suggestion that the workflow comes from, changed or not. */
    suggestion_id: z.string().min(1).optional(),
    /** Values of the suggestion's inputs. */
    arguments: jsonObject.optional(),
  }),
  output: workflowAnswer,
  http: { method: 'POST', path: '/workflows' },
  mcp: {
    tool: 'pml_execute_workflow',
    title: 'Execute a workflow',
    description:
      'Run several tools in one go: independent tasks in parallel, results handed on with "${id.path}". A task may have when, for_each (a list; "${item}"), retry, timeout_ms. Or run what was suggested: `suggestion_id`, `arguments`. Or carry on a run: `run_id` and `action`.',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    input: asked,
    output: z.object({
      status: z.string(),
      run_id: z.string(),
      results: z.record(z.string(), z.unknown()),
      layers: z.array(z.unknown()),
      approvals: z.array(z.unknown()),
    }),
  },
  async run({ gateway }, { workflow, intent, run_id: runId, suggestion_id: from, ...rest }, caller) {
    if (workflow !== undefined) {
      const plan = planFromWire(workflow);
      const made = await gateway.executeWorkflow(plan, intent ?? null, caller, runId, from);
      return withHowToSettle(workflowToWire(made));
    }
    if (from === undefined)
      throw new PmlError('invalid_argument', 'There is neither workflow nor suggestion_id');
    const made = await gateway.executeSuggestion(from, rest.arguments ?? {}, caller, runId);
    return withHowToSettle(workflowToWire(made));
  },
});
