import { z } from 'zod';
import { parseToolId, splitToolId } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { toolText, toolValue } from '../../../engine/calls/call-tool.ts';
import type {
  Caller,
  CapabilityCall,
  CodeCall,
  CodeRun,
  Gateway,
  IntentCall,
  Suggestion,
  ToolCall,
  ToolRun,
} from '../../../engine/gateway.ts';
import type { JsonObject, ToolResult } from '../../../engine/ports.ts';
import type { ExecuteArguments } from '../../../operations/execute.ts';
import { consoleText, intentRunToWire } from '../../../operations/shapes/run.ts';
import type { ClientRequest } from '../endpoint.ts';
import { throughGateway } from '../pass-through/resource-uri.ts';
import type { Shrink, Shrunk } from '../results/shrink.ts';
import { answer, errorToWire, failure, type Present, readArguments, type ToolContext } from './meta-tool.ts';
import { approvalToWire, howToSettle } from './wire.ts';
import { workflowAnswer } from './workflow-answer.ts';

export const presentExecute: Present<ExecuteArguments> = async (args, toolContext, request) => {
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
    return await run({ code, ...rest }, toolContext, request.caller);
  }
  if (capability !== undefined)
    return await executeCapability({ capability, ...rest }, toolContext, request.caller);
  if (tool === undefined) {
    if (intent === undefined) throw choice('none is there');
    return await executeIntent({ intent, arguments: rest.arguments }, toolContext, request.caller);
  }
  if (isReadResult(tool)) return readResult(args.arguments, toolContext);
  return await executeOneTool({ tool, ...rest }, toolContext, request);
};

function choice(problem: string): PmlError {
  return new PmlError(
    'invalid_argument',
    `pml_execute runs one of tool, code, capability or intent: ${problem}`,
    {
      hint: 'For example {"tool": "filesystem:read_file", "arguments": {"path": "/tmp/a.txt"}}.',
    },
  );
}

const NAME = 'pml:read_result';
const ARGUMENTS = z.object({
  id: z.string().min(1),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).optional(),
});
const PUBLISHED = z.toJSONSchema(ARGUMENTS, { io: 'input' }) as JsonObject;

function isReadResult(tool: string): boolean {
  return tool.trim().replace(/^pml[_./]/, 'pml:') === NAME;
}

/** A slice of a result that was too large to answer with, for clients that read no resources. */
function readResult(args: unknown, { results }: ToolContext): JsonObject {
  const { id, offset, limit } = readArguments(NAME, ARGUMENTS, PUBLISHED, args);
  const slice = results.slice(id.replace(/^pml:\/\/results\//, ''), offset, limit);
  return answer({ status: 'success', run_id: null, trace_id: null, result: slice });
}

/** One call through policy, upstream and trace; what the tool gave comes back as data. */
async function executeOneTool(
  call: ToolCall,
  toolContext: ToolContext,
  request: ClientRequest,
): Promise<JsonObject> {
  const { gateway, recent, logLevels, shrink } = toolContext;
  const server = serverOf(call.tool, gateway);
  const sent = Object.keys(request.meta).length === 0 ? call : { ...call, meta: request.meta };
  const run = () => gateway.executeTool(sent, request.caller);
  const made = await (server === null ? run() : logLevels.during(server, request, run));
  const facts = { status: made.status, run_id: made.runId, trace_id: made.traceId };
  if (made.status === 'approval_required') {
    const approval = made.approval ? { approval: approvalToWire(made.approval) } : {};
    return answer({ ...facts, ...approval, how_to_settle: howToSettle(made.runId) });
  }
  if (made.status === 'success') recent.add(request.caller.sessionId, call.tool);
  if (!made.result) return failure({ ...facts, error: errorOf(made) });
  const blocks = contentOf(made.result, shrink).map((block) =>
    server === null ? block : throughGateway(server, block),
  );
  if (made.status !== 'success') {
    const { value, links } = shrink.value(toolText(made.result) || 'The tool failed without saying why');
    return failure({ ...facts, error: { code: 'tool_failed', message: value } }, [...blocks, ...links]);
  }
  const { value, links } = shrink.value(toolValue(made.result));
  return answer({ ...facts, result: value }, [...blocks, ...links]);
}

function errorOf(made: ToolRun): JsonObject {
  const error = made.error ?? {
    code: 'internal' as const,
    message: 'The run returned neither a result nor an error',
  };
  return { ...errorToWire(error) };
}

/** The tool's own blocks, but for text that stands in the result already. */
function contentOf(result: ToolResult, shrink: Shrink): readonly JsonObject[] {
  const own = (result.content ?? []).filter(
    (block) => block.type !== 'text' || !isInResult(result, block.text),
  );
  return own.flatMap((block) => shrink.block(block));
}

/** Without structured content, the text is the result; with it, servers repeat it as text. */
function isInResult({ structuredContent, isError }: ToolResult, text: unknown): boolean {
  if (structuredContent === undefined || isError === true) return true;
  if (!/^\s*[[{"\d]/.test(String(text))) return false;
  try {
    return JSON.stringify(JSON.parse(String(text))) === JSON.stringify(structuredContent);
  } catch {
    return false;
  }
}

/** The server a tool is of, however it is spelt; null where no server is named. */
function serverOf(tool: string, gateway: Gateway): string | null {
  const names = gateway.settings().servers.map(({ name }) => name);
  try {
    const { server } = splitToolId(parseToolId(tool, names));
    return names.includes(server) ? server : null;
  } catch {
    return null;
  }
}

/** `code` of `pml_execute` with `as_plan`. */
async function executeAsPlan(
  call: CodeCall,
  { gateway, shrink }: ToolContext,
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
async function executeIntent(
  call: IntentCall,
  { gateway, shrink }: ToolContext,
  caller: Caller,
): Promise<JsonObject> {
  const made = await gateway.executeIntent(call, caller);
  if (!made.run) return answer({ ...intentRunToWire(made), ...howToRun(made.suggestion) });
  const { plan, confidence } = intentRunToWire(made) as JsonObject;
  return workflowAnswer(made.run, shrink, { plan, confidence });
}

/** Nobody has to be asked twice: the agent decides. */
function howToRun({ id, plan }: Suggestion): { how_to_run?: JsonObject } {
  if (id === null) return {};
  const needed = plan.inputs.map(({ name }) => [name, '…']);
  const values = needed.length === 0 ? {} : { arguments: Object.fromEntries(needed) };
  const as = (args: object) => `If this plan is what you want: pml_execute_workflow ${JSON.stringify(args)}`;
  return {
    how_to_run: {
      as_it_is: as({ suggestion_id: id, ...values }),
      changed: 'Give the changed plan in "workflow" besides suggestion_id.',
    },
  };
}

const DEFAULTS = {
  /** Of what an answer may hold, one part in so many is for the console. */
  consoleShare: 8,
};

/** `code` of `pml_execute`. */
async function executeCode(call: CodeCall, toolContext: ToolContext, caller: Caller): Promise<JsonObject> {
  const made = await toolContext.gateway.executeCode({ ...call, code: unfenced(call.code) }, caller);
  return toAnswer(made, toolContext, caller);
}

/** `capability` of `pml_execute`. */
async function executeCapability(
  call: CapabilityCall,
  toolContext: ToolContext,
  caller: Caller,
): Promise<JsonObject> {
  return toAnswer(await toolContext.gateway.executeCapability(call, caller), toolContext, caller);
}

/** Models like to put code between fences of Markdown. Lines count from the first one within. */
export function unfenced(code: string): string {
  const text = code.trim();
  const first = /^```[^\n`]*\n/.exec(text)?.[0].length ?? 0;
  // The fences may be all there is.
  if (first === 0 || !text.endsWith('```') || text.length < first + 3) return code;
  const inner = withoutEnding(text.slice(first, -3), ' \t');
  return inner.endsWith('\n') ? inner.slice(0, -1) : inner;
}

function toAnswer(made: CodeRun, { recent, shrink }: ToolContext, { sessionId }: Caller): JsonObject {
  if (made.status === 'success') for (const tool of made.toolsUsed) recent.add(sessionId, tool);
  const result: Shrunk<unknown> = shrink.value(made.result ?? null);
  const written = shrink.shared(DEFAULTS.consoleShare).value(consoleText(made.console));
  const facts = {
    status: made.status,
    run_id: made.runId,
    trace_id: made.traceId,
    ...(made.status === 'success' && { result: result.value }),
    ...(made.console.length > 0 && { console: written.value }),
    ...(made.error && { error: errorToWire(made.error) }),
    ...(made.approval && { approval: approvalToWire(made.approval) }),
    ...(made.status === 'approval_required' && { how_to_settle: howToSettle(made.runId) }),
  };
  const links = [...result.links, ...written.links];
  return made.status === 'error' ? failure(facts, links) : answer(facts, links);
}
