import { z } from 'zod';
import type { Plan, Task } from '../../../core/vocabulary/plan.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { WorkflowResult } from '../../../engine/gateway.ts';
import type { Approval, JsonObject } from '../../../engine/ports.ts';
import type { Shrink } from '../results/shrink.ts';
import { answer, errorToWire, failure } from './answer.ts';
import { metaTool } from './meta-tool.ts';
import { approvalToWire, howToSettle } from './wire.ts';

const TASK = z.looseObject({
  id: z.string().min(1),
  tool: z.string().optional(),
  capability: z.string().optional(),
  code: z.string().optional(),
  arguments: z.preprocess(fromJson, z.looseObject({}).default({})),
  depends_on: z.array(z.string()).default([]),
});
const WORKFLOW = z.object({ tasks: z.array(TASK).min(1) });

export const executeWorkflow = metaTool(
  {
    name: 'pml_execute_workflow',
    title: 'Execute a workflow',
    description:
      'Run several tools in one go: independent tasks in parallel, results handed on with "${id.path}". `workflow`: {tasks: [{id, tool, arguments, depends_on}]}. Or carry on a run: `run_id` and `action`.',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  z.object({
    workflow: z.looseObject({}).optional().describe('{tasks: [{id, tool, arguments, depends_on}]}'),
    run_id: z.string().min(1).optional(),
    action: z.enum(['status', 'continue', 'replan', 'resume', 'abort']).optional(),
    intent: z.string().min(1).optional().describe('Why, in plain words'),
  }),
  async ({ workflow, run_id, action, intent }, { gateway, shrink }, { caller }) => {
    if ((workflow === undefined) === (run_id === undefined)) {
      throw new PmlError(
        'invalid_argument',
        'pml_execute_workflow takes either workflow, or run_id with action',
      );
    }
    const result =
      run_id === undefined
        ? await gateway.executeWorkflow(readPlan(workflow), intent ?? null, caller)
        : await gateway.continueRun(run_id, action ?? 'status', caller);
    return toAnswer(result, shrink);
  },
);

function readPlan(workflow: unknown): Plan {
  const checked = WORKFLOW.safeParse(workflow);
  if (!checked.success) {
    const problems = checked.error.issues.map(
      ({ path, message }) => `workflow.${path.join('.')}: ${message}`,
    );
    throw new PmlError('invalid_argument', problems.join('; '), {
      hint: 'For example {"tasks": [{"id": "a", "tool": "filesystem:read_file", "arguments": {"path": "/tmp/a.txt"}}]}.',
    });
  }
  return { tasks: checked.data.tasks.map(toTask), inputs: [] };
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function toTask({
  depends_on: dependsOn,
  arguments: args,
  id,
  tool,
  capability,
  code,
}: z.infer<typeof TASK>): Task {
  const bodies = Object.entries({ tool, capability, code }).filter(([, body]) => body !== undefined);
  if (bodies.length !== 1) {
    throw new PmlError('invalid_argument', `Task "${id}" must have exactly one of tool, capability and code`);
  }
  const body = Object.fromEntries(bodies) as { tool: string } | { capability: string } | { code: string };
  return { id, arguments: args, dependsOn, ...body };
}

function toAnswer(result: WorkflowResult, shrink: Shrink): JsonObject {
  const links: JsonObject[] = [];
  const each = shrink.shared(Object.keys(result.results).length);
  const results = Object.entries(result.results).map(([id, state]) => {
    const shown = stateToWire(state, (value) => {
      const shrunk = each.value(value);
      links.push(...shrunk.links);
      return shrunk.value;
    });
    return [id, shown];
  });
  const facts = {
    status: result.status,
    run_id: result.runId,
    results: Object.fromEntries(results),
    layers: result.layers,
    approvals: result.approvals.map(approvalToWire),
    ...(result.error && { error: errorToWire(result.error) }),
  };
  if (result.status === 'error') return failure(facts, links);
  const waits = result.status === 'approval_required' ? { how_to_settle: howToSettle(result.runId) } : {};
  return answer({ ...facts, ...waits }, links);
}

function stateToWire(state: unknown, show: (value: unknown) => unknown): unknown {
  if (typeof state !== 'object' || state === null) return show(state);
  const { result, approval, ...rest } = state as { result?: unknown; approval?: Approval };
  return {
    ...rest,
    ...(result !== undefined && { result: show(result) }),
    ...(approval && { approval: approvalToWire(approval) }),
  };
}
