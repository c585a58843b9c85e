import { z } from 'zod';
import { parseToolId, splitToolId } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { READ_RESULT } from '../../../engine/code/check-program.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import type { Suggestion } from '../../../engine/learning/suggest.ts';
import { mayReach } from '../../../engine/people/roles.ts';
import type { JsonObject, ToolResult } from '../../../engine/ports.ts';
import type { RunResult } from '../../../engine/runs/run.ts';
import type { CapabilityCall, CodeCall, IntentCall, ToolCall } from '../../../engine/runs/run-requests.ts';
import type { ExecuteArguments } from '../../../operations/execute.ts';
import { consoleText, errorToWire, intentRunToWire } from '../../../operations/shapes/run.ts';
import { suggestionToWire } from '../../../operations/suggest.ts';
import type { ClientRequest } from '../endpoint.ts';
import { throughGateway } from '../pass-through/resource-uri.ts';
import type { Shrink } from '../results/kept-results.ts';
import { isMedia, liftMedia } from '../results/lift-media.ts';
import { workflowAnswer } from './execute-workflow.ts';
import {
  answer,
  approvalToWire,
  failure,
  howToSettle,
  type Present,
  readArguments,
  type ToolContext,
} from './meta-tool.ts';
import { suggestionText } from './search-tools.ts';
export const presentExecute: Present<ExecuteArguments> = async (args, toolContext, request) => {
  const { tool, code, capability, intent } = args;
  const bodies = Object.entries({ tool, code, capability }).filter(([, body]) => body !== undefined);
  if (bodies.length > 1) throw choice(`${bodies.map(([name]) => name).join(' and ')} cannot be combined`);
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
    if (intent === undefined) throw choice('none was given');
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

const NAME = READ_RESULT;
const ARGUMENTS = z.object({
  id: z.string().min(1),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).optional(),
});
const PUBLISHED = z.toJSONSchema(ARGUMENTS, { io: 'input' }) as JsonObject;

function isReadResult(tool: string): boolean {
  return tool.trim().replace(/^pml[_./]/, 'pml:') === NAME;
}

/** A slice of an oversized result, for clients that do not support resources. */
function readResult(args: unknown, { results }: ToolContext): JsonObject {
  const { id, offset, limit } = readArguments(NAME, ARGUMENTS, PUBLISHED, args);
  const slice = results.slice(bareId(id), offset, limit);
  const { text, next_offset: next, total_chars: total } = slice;
  const rest =
    next === null ? '' : `\n[… ${total - next} of ${total} characters follow: "offset": ${next} …]`;
  return answer({ status: 'success', run_id: null, trace_id: null, result: slice }, [], text + rest);
}

/** The id of a result, also from its address. */
function bareId(id: string): string {
  return id.replace(/^pml:\/\/results\//, '');
}

/** Programs read large results whole: they need not fit into an answer. */
function withResults(caller: Caller, { results }: ToolContext): Caller {
  return { ...caller, readResult: (id) => results.value(bareId(id)) };
}

/** One tool call with policy and trace; returns the tool's result as data. */
async function executeOneTool(
  call: ToolCall,
  toolContext: ToolContext,
  request: ClientRequest,
): Promise<JsonObject> {
  const { gateway, recent, logLevels, shrink } = toolContext;
  const named = serverOf(call.tool, gateway);
  const server = named !== null && mayReach(request.caller.who, named) ? named : null;
  const sent = Object.keys(request.meta).length === 0 ? call : { ...call, meta: request.meta };
  const run = () => gateway.executeTool(sent, request.caller);
  const made = await (server === null ? run() : logLevels.during(server, request, run));
  const facts = { status: made.status, run_id: made.runId, trace_id: made.traceId };
  if (made.status === 'approval_required') {
    return answer({ ...facts, ...askedIn(made), how_to_settle: howToSettle(made.runId) });
  }
  if (made.status === 'success') recent.add(request.caller.sessionId, call.tool);
  const { toolResult, error, result } = made;
  if (!toolResult) return failure({ ...facts, ...(error && { error: errorToWire(error) }) });
  const { blocks, value } = toldResult(toolResult, server, result, shrink);
  // What a tool says of its failure is its content.
  if (error) {
    const { value: message } = shrink.value(error.message);
    return failure({ ...facts, error: { ...errorToWire(error), message: String(message) } }, blocks, null);
  }
  return answer({ ...facts, result: value }, blocks, null);
}

/** The pending approval. */
function askedIn({ approvals: [approval] }: RunResult): { approval?: JsonObject } {
  return approval ? { approval: approvalToWire(approval) } : {};
}

/**
 * The tool's own content, as a client reads it that is attached to the server directly, with links through the gateway;
 * then what only its structured content says. `value` is the same for a program.
 */
function toldResult(toolResult: ToolResult, server: string | null, result: unknown, shrink: Shrink) {
  const { content = [], structuredContent } = toolResult;
  const reachable = content.map((block) => (server === null ? block : throughGateway(server, block)));
  const own = shrink.blocks(reachable);
  const lifted = liftMedia(result, reachable.filter(isMedia));
  const more = lifted.media.filter((block) => !reachable.includes(block));
  if (structuredContent === undefined && typeof result === 'string') {
    const texts = own.filter(({ type }) => type === 'text').map(({ text }) => text);
    return { blocks: [...(own.length > 0 ? own : [NOTHING]), ...more], value: texts.join('\n') };
  }
  const { value, text, links } = shrink.value(lifted.value);
  const isTold = structuredContent === undefined || isInTexts(lifted.value, content);
  const isSilent = own.length + more.length === 0;
  const extra = isTold && !isSilent ? [] : [{ type: 'text', text }, ...links];
  return { blocks: [...own, ...extra, ...more], value };
}

const NOTHING = { type: 'text', text: '(empty)' };

/** Whether the texts say everything that a value holds: servers repeat it, as JSON or in words, for other clients. */
function isInTexts(value: unknown, content: readonly JsonObject[]): boolean {
  const texts = content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
  const words = new Set(texts.split(/[^\p{L}\p{N}_.-]+/u));
  let left = DEFAULTS.leaves;
  const isTold = (part: unknown): boolean => {
    if (typeof part === 'object' && part !== null)
      return 'block' in part || Object.values(part).every((inner) => isTold(inner));
    // Alone they say too little to be missed.
    if (part === null || typeof part === 'boolean' || part === '') return true;
    if (left-- <= 0) return false;
    if (typeof part === 'number' || String(part).length < DEFAULTS.shortText) return words.has(String(part));
    return texts.includes(String(part)) || texts.includes(JSON.stringify(part).slice(1, -1));
  };
  return isTold(value);
}

/** The server of a tool, in any spelling; null if none is named. */
function serverOf(tool: string, gateway: Gateway): string | null {
  const names = gateway.settings().servers.map(({ name }) => name);
  try {
    const { server } = splitToolId(parseToolId(tool, names));
    return names.includes(server) ? server : null;
  } catch {
    return null;
  }
}

/** `code` with `as_plan`. */
async function executeAsPlan(
  call: CodeCall,
  { gateway, shrink }: ToolContext,
  caller: Caller,
): Promise<JsonObject> {
  const made = await gateway.executeAsPlan({ ...call, code: unfenced(call.code) }, caller);
  const half = shrink.shared(2);
  if (made.status !== 'success') return workflowAnswer(made, half);
  const result = half.value(made.result ?? null);
  return workflowAnswer(made, half, { result: result.value }, result.text);
}

/** `intent` alone. */
async function executeIntent(
  call: IntentCall,
  { gateway, shrink }: ToolContext,
  caller: Caller,
): Promise<JsonObject> {
  const made = await gateway.executeIntent(call, caller);
  if (!made.run) {
    const how = howToRun(made.suggestion);
    const text = [suggestionText(suggestionToWire(made.suggestion)), `Not run: ${made.why.join('; ')}.`];
    return answer({ ...intentRunToWire(made), ...how }, [], text.join('\n'));
  }
  const { plan, confidence } = intentRunToWire(made) as JsonObject;
  return workflowAnswer(made.run, shrink, { plan, confidence });
}

/** The agent itself decides whether to run the plan. */
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
  /** Fraction (1/n) of a response that console output may take. */
  consoleShare: 8,
  /** Values of structured content that are looked for in the texts beside it. */
  leaves: 200,
  /** Characters below which a text is looked for as a whole word. */
  shortText: 4,
};

async function executeCode(call: CodeCall, toolContext: ToolContext, caller: Caller): Promise<JsonObject> {
  const program = { ...call, code: unfenced(call.code) };
  const made = await toolContext.gateway.executeCode(program, withResults(caller, toolContext));
  return toAnswer(made, toolContext, caller);
}

async function executeCapability(
  call: CapabilityCall,
  toolContext: ToolContext,
  caller: Caller,
): Promise<JsonObject> {
  return toAnswer(await toolContext.gateway.executeCapability(call, caller), toolContext, caller);
}

/** Removes Markdown fences that models put around code. Line numbers count from the first line inside. */
export function unfenced(code: string): string {
  const text = code.trim();
  const first = /^```[^\n`]*\n/.exec(text)?.[0].length ?? 0;
  // The text may consist of fences only.
  if (first === 0 || !text.endsWith('```') || text.length < first + 3) return code;
  const inner = withoutEnding(text.slice(first, -3), ' \t');
  return inner.endsWith('\n') ? inner.slice(0, -1) : inner;
}

function toAnswer(made: RunResult, { recent, shrink }: ToolContext, { sessionId }: Caller): JsonObject {
  const { status, runId, traceId, error } = made;
  if (status === 'success') for (const tool of made.toolsUsed) recent.add(sessionId, tool);
  const lifted = liftMedia(made.result ?? null, made.media);
  const result = shrink.value(lifted.value);
  const written = shrink.shared(DEFAULTS.consoleShare).value(consoleText(made.console));
  const facts = {
    status,
    run_id: runId,
    trace_id: traceId,
    ...(status === 'success' && { result: result.value }),
    ...(made.console.length > 0 && { console: written.value }),
  };
  const output = made.console.length > 0 ? [{ type: 'text', text: `console:\n${written.text}` }] : [];
  const blocks = [...output, ...result.links, ...written.links, ...lifted.media];
  if (status === 'error') return failure({ ...facts, ...(error && { error: errorToWire(error) }) }, blocks);
  if (status === 'success') return answer(facts, blocks, lifted.value === null ? NO_VALUE : result.text);
  return answer({ ...facts, ...askedIn(made), how_to_settle: howToSettle(runId) }, blocks);
}

const NO_VALUE = 'null (the program returned nothing: end it with return)';
