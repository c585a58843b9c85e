import type { ToolInvocation } from '../vocabulary/execution-trace.ts';
import { TOOLS_SEQUENCE_LIMIT } from '../vocabulary/execution-trace.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { type CallSpan, callSpans } from './call-spans.ts';
import { overlaps } from './overlaps.ts';

const DEFAULTS = {
  /**
   * Ids in one call's `parallel_with`, those that started first: as many as calls may be in flight by
   * default, twice over. A call beside ten thousand others must not make the trace quadratic.
   */
  parallelWith: 32,
};

/** Everything that follows from a run's events; derived here and nowhere else. */
export interface DerivedTrace {
  /** In order of start; a capability precedes its calls; failed calls included. */
  readonly executedPath: readonly NodeId[];
  /** Tool and operation calls, in order of start. */
  readonly toolInvocations: readonly ToolInvocation[];
  /** Without repeats, in order of first use. */
  readonly toolsUsed: readonly NodeId[];
  /** With repeats, the first `TOOLS_SEQUENCE_LIMIT`. */
  readonly toolsSequence: readonly NodeId[];
}

export function deriveTrace(events: readonly TraceEvent[]): DerivedTrace {
  const spans = callSpans(events);
  const calls = spans.filter(({ start }) => start.type === 'tool_start');
  const sequence = calls.map(({ start }) => start.node);
  return {
    executedPath: spans.map(({ start }) => start.node),
    toolInvocations: toInvocations(calls),
    toolsUsed: [...new Set(sequence)],
    toolsSequence: sequence.slice(0, TOOLS_SEQUENCE_LIMIT),
  };
}

function toInvocations(calls: readonly CallSpan[]): ToolInvocation[] {
  const seen = new Map<NodeId, number>();
  const ids = calls.map(({ start: { node } }) => {
    const nth = seen.get(node) ?? 0;
    seen.set(node, nth + 1);
    return `${node}#${nth}`;
  });
  const parallel = overlaps(calls, DEFAULTS.parallelWith);
  return calls.map(({ start, end, startTs, endTs }, index) => ({
    id: ids[index]!,
    tool: start.node,
    ts: startTs,
    durationMs: endTs - startTs,
    sequenceIndex: index,
    success: end?.success ?? false,
    parallelWith: parallel[index]!.map((other) => ids[other]!),
  }));
}
