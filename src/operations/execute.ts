import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { IntentRun } from '../engine/runs/run-service.ts';
import { callFields, callOf } from './input-fields.ts';
import { operation } from './operation.ts';
import {
  execution,
  executionToWire,
  intentAnswer,
  intentRunToWire,
  plannedAnswer,
  plannedRunToWire,
  withHowToSettle,
} from './shapes/run.ts';

const CODE = [
  'TypeScript: `await mcp.server.tool({…})` returns the result as data, a failure throws; `await capabilities.slug({…})`; `args`, console, Promise.all; `return` the result.',
  'No imports, timers, files or network.',
].join(' ');

const asked = z.object({
  tool: z.string().min(1).optional().describe('server:tool, e.g. filesystem:read_file'),
  arguments: z.looseObject({}).optional().describe('Of the tool or capability; `args` in code'),
  code: z.string().min(1).optional().describe(CODE),
  as_plan: z.boolean().optional().describe('Run code as a workflow: reads in parallel'),
  capability: z.string().min(1).optional().describe('slug from pml_search_capabilities'),
  intent: z.string().min(1).optional().describe('The goal in plain words'),
  timeout_ms: callFields.timeout_ms,
});

/** Input of the MCP tool. */
export type ExecuteArguments = z.output<typeof asked>;

export const execute = operation({
  name: 'execute',
  right: 'run',
  scoped: true,
  summary: 'Runs a tool, code, a capability, or a plan for an intent',
  input: z.strictObject({
    ...callFields,
    tool: z.string().min(1).optional(),
    code: z.string().min(1, { error: 'The program is empty' }).optional(),
    capability: z.string().min(1).optional(),
    /** Runs code as a workflow, with reads in parallel. */
    as_plan: z.boolean().default(false),
    /** Id for the run with as_plan or an intent alone, so that the caller can follow it meanwhile. */
    run_id: z.string().min(1).max(200).optional(),
  }),
  output: z.union([execution, plannedAnswer, intentAnswer]),
  http: { method: 'POST', path: '/execute' },
  mcp: {
    tool: 'pml_execute',
    place: 4,
    title: 'Execute',
    description:
      'Run a tool of any server: `tool` (an id from pml_search_tools) and `arguments`. Several calls at once: `code`. A proven routine: `capability`. With `intent` alone: plans, and runs the plan if safe.',
    // It can run anything; policy judges each call by its own tool.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    mayBeTask: true,
    input: asked,
  },
  async run({ gateway }, { tool, code, capability, as_plan: asPlan, run_id: runId, ...call }, caller) {
    const given = [tool, code, capability].filter((body) => body !== undefined);
    const { intent } = call;
    if (given.length === 0 && intent !== undefined)
      return toldIntent(await gateway.executeIntent({ intent, arguments: call.arguments }, caller, runId));
    if (given.length !== 1) {
      throw new PmlError('invalid_argument', 'Give exactly one of tool, code, capability and intent', {
        hint: 'For example {"code": "return await mcp.memory.read_graph()"}.',
      });
    }
    const rest = callOf(call);
    if (code !== undefined && asPlan)
      return withHowToSettle(plannedRunToWire(await gateway.executeAsPlan({ code, ...rest }, caller, runId)));
    const made =
      tool !== undefined
        ? await gateway.executeTool({ tool, ...rest }, caller)
        : code !== undefined
          ? await gateway.executeCode({ code, ...rest }, caller)
          : await gateway.executeCapability({ capability: capability ?? '', ...rest }, caller);
    return withHowToSettle(executionToWire(made));
  },
});

function toldIntent(made: IntentRun) {
  const wire = intentRunToWire(made);
  if (wire.status !== 'suggestion') return withHowToSettle(wire);
  const { id, edges } = made.suggestion;
  if (id === null) return wire;
  const call = { suggestion_id: id, arguments: {} };
  return { ...wire, edges, how_to_run: `POST /api/workflows with ${JSON.stringify(call)}` };
}
