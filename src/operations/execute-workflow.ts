import { z } from 'zod';
import { planFromWire } from '../core/vocabulary/plan.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';
import { withHowToSettle, workflowAnswer, workflowToWire } from './shapes/run.ts';

const asked = z.object({
  workflow: z
    .looseObject({})
    .optional()
    .describe(
      '{tasks: [{id, tool | capability | code, arguments, depends_on}], decide: "layers" to stop after each}',
    ),
  run_id: z.string().min(1).optional(),
  action: z.enum(['status', 'continue', 'replan', 'resume', 'abort']).optional(),
  intent: z.string().min(1).optional(),
  suggestion_id: z.string().optional(),
  arguments: z.looseObject({}).optional().describe('Values of inputs'),
});

/** Input of the MCP tool. */
export type ExecuteWorkflowArguments = z.output<typeof asked>;

export const executeWorkflow = operation({
  name: 'execute_workflow',
  right: 'run',
  scoped: true,
  summary: 'Runs a plan or a suggestion; once per run_id',
  input: z.strictObject({
    /** By default the suggestion's plan. */
    workflow: z.looseObject({}).optional(),
    intent: z.string().min(1).optional(),
    /** Repeating a request with the same id returns the same run. */
    run_id: z.string().min(1).max(200).optional(),
    /** Id of the suggestion that the workflow comes from, changed or not. */
    suggestion_id: z.string().min(1).optional(),
    /** Values of the suggestion's inputs. */
    arguments: jsonObject.optional(),
  }),
  output: workflowAnswer,
  http: { method: 'POST', path: '/workflows' },
  mcp: {
    tool: 'pml_execute_workflow',
    place: 5,
    title: 'Execute a workflow',
    description:
      'Run several tools in one call: independent tasks in parallel, results passed on with "${id.path}". Tasks may have when, for_each (a list; "${item}"), retry, timeout_ms. Or a suggestion: `suggestion_id`, `arguments`. Or continue a run: `run_id`, `action`.',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    mayBeTask: true,
    input: asked,
  },
  async run({ gateway }, { workflow, intent, run_id: runId, suggestion_id: from, ...rest }, caller) {
    if (workflow !== undefined) {
      const plan = planFromWire(workflow);
      const made = await gateway.executeWorkflow(plan, intent ?? null, caller, runId, from);
      return withHowToSettle(workflowToWire(made));
    }
    if (from === undefined)
      throw new PmlError('invalid_argument', 'Either workflow or suggestion_id is required');
    const made = await gateway.executeSuggestion(from, rest.arguments ?? {}, caller, runId);
    return withHowToSettle(workflowToWire(made));
  },
});
