import type { ToolInvocation } from '../vocabulary/execution-trace.ts';
import { TOOLS_SEQUENCE_LIMIT } from '../vocabulary/execution-trace.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type EndEvent, isEnd, type StartEvent, type TraceEvent } from '../vocabulary/trace-event.ts';

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

interface Span {
  readonly start: StartEvent;
  /** Absent when the run ended before the call did. */
  readonly end?: EndEvent;
}

export function deriveTrace(events: readonly TraceEvent[]): DerivedTrace {
  const spans = spansInOrderOfStart(events);
  const calls = spans.filter(({ start }) => start.type === 'tool_start');
  const lastTs = events.reduce((latest, event) => Math.max(latest, event.ts), 0);
  const toolInvocations = toInvocations(calls, lastTs);
  const sequence = calls.map(({ start }) => start.node);
  return {
    executedPath: spans.map(({ start }) => start.node),
    toolInvocations,
    toolsUsed: [...new Set(sequence)],
    toolsSequence: sequence.slice(0, TOOLS_SEQUENCE_LIMIT),
  };
}

/** Events of the same moment keep the order in which they were recorded. */
function spansInOrderOfStart(events: readonly TraceEvent[]): Span[] {
  const ends = new Map<string, EndEvent>();
  for (const event of events) if (isEnd(event)) ends.set(event.traceId, event);
  return events
    .filter((event): event is StartEvent => !isEnd(event))
    .sort((a, b) => a.ts - b.ts)
    .map((start) => {
      const end = ends.get(start.traceId);
      return end ? { start, end } : { start };
    });
}

function toInvocations(calls: readonly Span[], lastTs: number): ToolInvocation[] {
  const seen = new Map<NodeId, number>();
  const timed = calls.map(({ start, end }) => {
    const nth = seen.get(start.node) ?? 0;
    seen.set(start.node, nth + 1);
    return { start, end, id: `${start.node}#${nth}`, endTs: end?.ts ?? lastTs };
  });
  return timed.map((call, index) => ({
    id: call.id,
    tool: call.start.node,
    ts: call.start.ts,
    durationMs: call.end?.durationMs ?? call.endTs - call.start.ts,
    sequenceIndex: index,
    success: call.end?.success ?? false,
    parallelWith: timed
      .filter((other) => other !== call && other.start.ts < call.endTs && call.start.ts < other.endTs)
      .map((other) => other.id),
  }));
}
