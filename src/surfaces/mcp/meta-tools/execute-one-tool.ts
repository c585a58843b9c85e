import { toolText, toolValue } from '../../../engine/calls/call-tool.ts';
import type { ToolCall, ToolRun } from '../../../engine/gateway.ts';
import type { JsonObject, ToolResult } from '../../../engine/ports.ts';
import type { ClientRequest } from '../endpoint.ts';
import { throughGateway } from '../pass-through/resource-uri.ts';
import type { Shrink } from '../results/shrink.ts';
import { answer, errorToWire, failure } from './answer.ts';
import type { Workshop } from './meta-tool.ts';
import { serverOf } from './server-of.ts';
import { approvalToWire, howToSettle } from './wire.ts';

/** One call through policy, upstream and trace; what the tool gave comes back as data. */
export async function executeOneTool(
  call: ToolCall,
  shop: Workshop,
  request: ClientRequest,
): Promise<JsonObject> {
  const { gateway, recent, logLevels, shrink } = shop;
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
    message: 'The run gave neither a result nor an error',
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
