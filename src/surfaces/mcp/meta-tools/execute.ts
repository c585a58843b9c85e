import { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { executeAsPlan, executeIntent } from './execute-as-plan.ts';
import { executeCapability, executeCode } from './execute-code.ts';
import { executeOneTool } from './execute-one-tool.ts';
import { metaTool } from './meta-tool.ts';
import { isReadResult, readResult } from './read-result.ts';

const DEFAULTS = { maxTimeoutMs: 24 * 60 * 60_000 };

const CODE = [
  'TypeScript: `await mcp.server.tool({…})` gives the result as data, a failure throws; `await capabilities.slug({…})`; `args`, console, Promise.all; `return` the result.',
  'No imports, timers, files or network.',
].join('\n');

export const execute = metaTool(
  {
    name: 'pml_execute',
    title: 'Execute',
    description:
      'Run a tool of any attached server: give `tool` (an id from pml_search_tools, e.g. "filesystem:read_file") and `arguments` that fit its input_schema. Several calls in one go: `code`. A proven routine: `capability`. With `intent` alone: plans it, and runs the plan if that is safe.',
    // What it runs may do anything; each call is judged by the tool it is for.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  z.object({
    tool: z.string().min(1).optional().describe('server:tool'),
    arguments: z.looseObject({}).optional().describe('For the tool or capability; `args` of the code'),
    code: z.string().min(1).optional().describe(CODE),
    as_plan: z.boolean().optional().describe('Run code as a workflow: reads in parallel'),
    capability: z.string().min(1).optional().describe('slug from pml_search_capabilities'),
    intent: z.string().min(1).optional().describe('Why, in plain words; improves later suggestions'),
    timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
  }),
  async (args, shop, request) => {
    const { tool, code, capability, intent } = args;
    const bodies = Object.entries({ tool, code, capability }).filter(([, body]) => body !== undefined);
    if (bodies.length > 1) throw choice(`not ${bodies.map(([name]) => name).join(' and ')} together`);
    const rest = {
      arguments: args.arguments ?? {},
      ...(intent !== undefined && { intent }),
      ...(args.timeout_ms !== undefined && { timeoutMs: args.timeout_ms }),
    };
    if (code !== undefined) {
      const run = args.as_plan ? executeAsPlan : executeCode;
      return await run({ code, ...rest }, shop, request.caller);
    }
    if (capability !== undefined)
      return await executeCapability({ capability, ...rest }, shop, request.caller);
    if (tool === undefined) {
      if (intent === undefined) throw choice('none is there');
      return await executeIntent({ intent, arguments: rest.arguments }, shop, request.caller);
    }
    if (isReadResult(tool)) return readResult(args.arguments, shop);
    return await executeOneTool({ tool, ...rest }, shop, request);
  },
);

function choice(problem: string): PmlError {
  return new PmlError(
    'invalid_argument',
    `pml_execute runs one of tool, code, capability or intent: ${problem}`,
    {
      hint: 'For example {"tool": "filesystem:read_file", "arguments": {"path": "/tmp/a.txt"}}.',
    },
  );
}
