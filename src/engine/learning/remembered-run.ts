import type { RememberedCall, RememberedRun } from '../../core/planning/suggest/call-memory.ts';
import { callSpans } from '../../core/tracing/derive-trace.ts';
import { recordedValue } from '../../core/tracing/read-values.ts';
import { knownPart, REDACTED } from '../../core/tracing/redact.ts';
import { type ExecutionTrace, isEvidence, wasGood } from '../../core/vocabulary/execution-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import { isJsonObject } from '../../core/vocabulary/read-wire.ts';
import { sessionOf } from '../people/roles.ts';
import type { JsonObject } from '../ports.ts';

/** A run as its calls are remembered; null for one that PML chose itself, or that failed. */
export function rememberedRun(trace: ExecutionTrace): RememberedRun | null {
  const { events, intentText, executedAt, owner, visibility } = trace;
  if (!wasGood(trace) || !isEvidence(trace)) return null;
  const calls = callSpans(events).flatMap(({ start: { args, node }, end }) =>
    kindOf(node) === 'tool' && end?.success && isJsonObject(args)
      ? [rememberedCall(node, args, end.result)]
      : [],
  );
  const session = sessionOf({ sessionId: trace.sessionId }, owner);
  return { intent: intentText ?? '', session, at: executedAt.getTime(), owner, visibility, calls };
}

/** A call as it is known: what was hidden is not, and others may be filled in. */
export function rememberedCall(tool: string, args: JsonObject, result: unknown): RememberedCall {
  const hidden = Object.keys(args).filter((name) => JSON.stringify(args[name] ?? null).includes(REDACTED));
  const known = Object.entries(args).filter(([name]) => !hidden.includes(name));
  return {
    tool,
    arguments: Object.fromEntries(known),
    ...(hidden.length > 0 && { hidden }),
    result: knownPart(recordedValue(result)),
  };
}
