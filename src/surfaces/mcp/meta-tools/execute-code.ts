import { withoutEnding } from '../../../core/vocabulary/text.ts';
import type { Caller, CapabilityCall, CodeCall, CodeRun } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { consoleText } from '../../../operations/shapes/run.ts';
import type { Shrunk } from '../results/shrink.ts';
import { answer, errorToWire, failure } from './answer.ts';
import type { Workshop } from './meta-tool.ts';
import { approvalToWire, howToSettle } from './wire.ts';

const DEFAULTS = {
  /** Of what an answer may hold, one part in so many is for the console. */
  consoleShare: 8,
};

/** `code` of `pml_execute`. */
export async function executeCode(call: CodeCall, shop: Workshop, caller: Caller): Promise<JsonObject> {
  const made = await shop.gateway.executeCode({ ...call, code: unfenced(call.code) }, caller);
  return toAnswer(made, shop, caller);
}

/** `capability` of `pml_execute`. */
export async function executeCapability(
  call: CapabilityCall,
  shop: Workshop,
  caller: Caller,
): Promise<JsonObject> {
  return toAnswer(await shop.gateway.executeCapability(call, caller), shop, caller);
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

function toAnswer(made: CodeRun, { recent, shrink }: Workshop, { sessionId }: Caller): JsonObject {
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
