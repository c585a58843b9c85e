import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { IntentRun } from '../engine/gateway.ts';
import { jsonObject } from './fields.ts';
import { withHowToSettle } from './how-to-settle.ts';
import { operation } from './operation.ts';
import {
  codeRunToWire,
  execution,
  intentAnswer,
  intentRunToWire,
  plannedAnswer,
  plannedRunToWire,
  toolRunToWire,
} from './shapes/run.ts';
import { errorShape } from './shapes/server.ts';

const DEFAULTS = { maxTimeoutMs: 24 * 60 * 60_000 };

const CODE = [
  'TypeScript: `await mcp.server.tool({…})` gives the result as data, a failure throws; `await capabilities.slug({…})`; `args`, console, Promise.all; `return` the result.',
  'No imports, timers, files or network.',
].join('\n');

const asked = z.object({
  tool: z.string().min(1).optional().describe('server:tool'),
  arguments: z.looseObject({}).optional().describe('For the tool or capability; `args` of the code'),
  code: z.string().min(1).optional().describe(CODE),
  as_plan: z.boolean().optional().describe('Run code as a workflow: reads in parallel'),
  capability: z.string().min(1).optional().describe('slug from pml_search_capabilities'),
  intent: z.string().min(1).optional().describe('Why, in plain words; improves later suggestions'),
  timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
});

/** What a model gives. */
export type ExecuteArguments = z.output<typeof asked>;

/** What any call may say besides what it runs. */
export const callFields = {
  arguments: jsonObject.default({}),
  intent: z.string().min(1).optional(),
  timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
};

export const execute = operation({
  name: 'execute',
  right: 'run',
  summary: 'Runs a tool, code, a capability, or what an intent leads to',
  input: z.strictObject({
    ...callFields,
    tool: z.string().min(1).optional(),
    code: z.string().min(1).optional(),
    capability: z.string().min(1).optional(),
    /** With code: as a workflow, reads in parallel. */
    as_plan: z.boolean().default(false),
  }),
  output: z.union([execution, plannedAnswer, intentAnswer]),
  http: { method: 'POST', path: '/execute' },
  mcp: {
    tool: 'pml_execute',
    title: 'Execute',
    description:
      'Run a tool of any attached server: give `tool` (an id from pml_search_tools, e.g. "filesystem:read_file") and `arguments` that fit its input_schema. Several calls in one go: `code`. A proven routine: `capability`. With `intent` alone: plans it, and runs the plan if that is safe.',
    // What it runs may do anything; each call is judged by the tool it is for.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    input: asked,
    output: z.object({
      status: z.string(),
      run_id: z.string().nullable().optional(),
      result: z.unknown().optional(),
      error: errorShape.optional(),
    }),
  },
  async run({ gateway }, { tool, code, capability, as_plan: asPlan, ...call }, caller) {
    const given = [tool, code, capability].filter((body) => body !== undefined);
    const { intent } = call;
    if (given.length === 0 && intent !== undefined)
      return toldIntent(await gateway.executeIntent({ intent, arguments: call.arguments }, caller));
    if (given.length !== 1) {
      throw new PmlError('invalid_argument', 'A run is of exactly one of tool, code, capability and intent', {
        hint: 'For example {"code": "return await mcp.memory.read_graph()"}.',
      });
    }
    const rest = callOf(call);
    if (tool !== undefined)
      return withHowToSettle(toolRunToWire(await gateway.executeTool({ tool, ...rest }, caller)));
    if (code !== undefined && asPlan)
      return withHowToSettle(plannedRunToWire(await gateway.executeAsPlan({ code, ...rest }, caller)));
    const made =
      code === undefined
        ? await gateway.executeCapability({ capability: capability ?? '', ...rest }, caller)
        : await gateway.executeCode({ code, ...rest }, caller);
    return withHowToSettle(codeRunToWire(made));
  },
});

/** A call as the engine takes it. */
export function callOf(call: {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly intent?: string | undefined;
  readonly timeout_ms?: number | undefined;
}) {
  const { timeout_ms: timeoutMs, intent, arguments: args } = call;
  return {
    arguments: args,
    ...(intent !== undefined && { intent }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function toldIntent(made: IntentRun) {
  const wire = intentRunToWire(made);
  if (wire.status !== 'suggestion') return withHowToSettle(wire);
  const { id } = made.suggestion;
  if (id === null) return wire;
  const call = { suggestion_id: id, arguments: {} };
  return { ...wire, how_to_run: `POST /api/workflows with ${JSON.stringify(call)}` };
}
