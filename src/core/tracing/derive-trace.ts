import { TOOLS_SEQUENCE_LIMIT, type ToolInvocation } from '../vocabulary/execution-trace.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type EndEvent, isEnd, type StartEvent, type TraceEvent } from '../vocabulary/trace-event.ts';

const DEFAULTS = {
  /**
   * Most ids in one call's `parallel_with`, earliest start first: twice the default number of calls in
   * flight. A call beside ten thousand others must not make the trace quadratic.
   */
  parallelWith: 32,
};

/** Everything that follows from a run's events; only `deriveTrace` computes it. */
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
    // Without what it waited before it began.
    durationMs: end?.durationMs ?? endTs - startTs,
    sequenceIndex: index,
    success: end?.success ?? false,
    parallelWith: parallel[index]!.map((other) => ids[other]!),
  }));
}

interface Interval {
  readonly startTs: number;
  readonly endTs: number;
}

/**
 * For each interval the indices of the first `limit` that share more than a boundary with it, in order.
 * A sweep over intervals sorted by start: O(n log n + pairs listed).
 */
function overlaps(intervals: readonly Interval[], limit: number): number[][] {
  const byEnd = intervals.map((_, i) => i).sort((a, b) => intervals[a]!.endTs - intervals[b]!.endTs);
  /** Intervals that started before the current one and have not ended, in order of start. */
  const open = new Set<number>();
  let ended = 0;
  return intervals.map((interval, index) => {
    while (ended < byEnd.length && intervals[byEnd[ended]!]!.endTs <= interval.startTs) {
      open.delete(byEnd[ended]!);
      ended++;
    }
    const found: number[] = [];
    for (const other of open) {
      if (found.length === limit) break;
      if (intervals[other]!.startTs < interval.endTs) found.push(other);
    }
    for (let later = index + 1; later < intervals.length && found.length < limit; later++) {
      if (intervals[later]!.startTs >= interval.endTs) break;
      if (interval.startTs < intervals[later]!.endTs) found.push(later);
    }
    if (interval.endTs > interval.startTs) open.add(index);
    return found;
  });
}

/** A call and its depth in the run: 0 for calls that the run itself made. */
export interface TreeRow {
  readonly span: CallSpan;
  readonly depth: number;
  /** Whether this is the last of its parent's calls. */
  readonly isLast: boolean;
}

/** The calls of a run as a tree: parents before children, siblings in order of start. */
export function traceTree(events: readonly TraceEvent[]): TreeRow[] {
  const spans = callSpans(events);
  const known = new Set(spans.map(({ start }) => start.traceId));
  const parentOf = ({ start: { parentTraceId } }: CallSpan) =>
    parentTraceId !== null && known.has(parentTraceId) ? parentTraceId : null;
  const children = Map.groupBy(spans, parentOf);
  const rows: TreeRow[] = [];
  // A stack instead of recursion, because the tree may be deep.
  const waiting: TreeRow[] = [];
  const push = (parent: string | null, depth: number) => {
    const calls = children.get(parent) ?? [];
    for (const [index, span] of calls.entries().toArray().reverse()) {
      waiting.push({ span, depth, isLast: index === calls.length - 1 });
    }
  };
  push(null, 0);
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    push(row.span.start.traceId, row.depth + 1);
  }
  return rows;
}

/** One call from its start to its end. */
export interface CallSpan {
  readonly start: StartEvent;
  /** Absent when the run ended before the call did. */
  readonly end?: EndEvent;
  readonly startTs: number;
  /** For a call without an end: the run's last moment. */
  readonly endTs: number;
}

/**
 * Pairs starts with ends, in causal order whatever the order of recording: by start; of calls that started
 * at the same moment, a caller comes before its calls, and a call that ended earlier before one that ended
 * later, because only the earlier can have caused the later; otherwise as recorded.
 */
export function callSpans(events: readonly TraceEvent[]): CallSpan[] {
  const ends = new Map<string, EndEvent>();
  let lastTs = 0;
  for (const event of events) {
    if (isEnd(event)) ends.set(event.traceId, event);
    lastTs = Math.max(lastTs, event.ts);
  }
  const spans = events
    .filter((event) => !isEnd(event))
    .map((start) => {
      const end = ends.get(start.traceId);
      const endTs = Math.max(start.ts, end?.ts ?? lastTs);
      return { start, ...(end && { end }), startTs: start.ts, endTs };
    })
    .sort((a, b) => a.startTs - b.startTs || a.endTs - b.endTs);
  return callersFirst(spans);
}

/** Moves each caller before those of its calls that started at the same moment; everything else stays in place. */
function callersFirst(spans: readonly CallSpan[]): CallSpan[] {
  const ordered: CallSpan[] = [];
  for (let from = 0; from < spans.length; ) {
    let to = from + 1;
    while (to < spans.length && spans[to]!.startTs === spans[from]!.startTs) to++;
    if (to === from + 1) ordered.push(spans[from]!);
    else for (const span of inTreeOrder(spans.slice(from, to))) ordered.push(span);
    from = to;
  }
  return ordered;
}

function inTreeOrder(tied: readonly CallSpan[]): Iterable<CallSpan> {
  const waiting = new Map(tied.map((span) => [span.start.traceId, span]));
  const ordered = new Set<CallSpan>();
  for (const span of tied) {
    const callers: CallSpan[] = [];
    // A span leaves `waiting` when it is taken, so that the loop ends even with a cycle of parents.
    for (let at: CallSpan | undefined = span; at; at = waiting.get(at.start.parentTraceId ?? '')) {
      waiting.delete(at.start.traceId);
      callers.push(at);
    }
    for (const caller of callers.reverse()) ordered.add(caller);
  }
  return ordered;
}
