import { type EndEvent, isEnd, type StartEvent, type TraceEvent } from '../vocabulary/trace-event.ts';

/** One call from its start to its end. */
export interface CallSpan {
  readonly start: StartEvent;
  /** Absent when the run ended before the call did. */
  readonly end?: EndEvent;
  readonly startTs: number;
  /** Of a call without an end: the run's last moment. */
  readonly endTs: number;
}

/**
 * Pairs starts with ends, in causal order whatever the order of recording: by start; of calls that
 * started at the same moment a caller comes before its calls, and what was over sooner before what
 * went on, because only that can have been caused by the other; else as recorded.
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

/** Moves each caller before those of its calls that started in the same moment; all else stays in place. */
function callersFirst(spans: readonly CallSpan[]): CallSpan[] {
  const ordered: CallSpan[] = [];
  for (let from = 0; from < spans.length; ) {
    let to = from + 1;
    while (to < spans.length && spans[to]!.startTs === spans[from]!.startTs) to++;
    const tied = spans.slice(from, to);
    for (const span of tied.length === 1 ? tied : inTreeOrder(tied)) ordered.push(span);
    from = to;
  }
  return ordered;
}

function inTreeOrder(tied: readonly CallSpan[]): Iterable<CallSpan> {
  const waiting = new Map(tied.map((span) => [span.start.traceId, span]));
  const ordered = new Set<CallSpan>();
  for (const span of tied) {
    const callers: CallSpan[] = [];
    // What was taken stops waiting, so that even a circle of parents ends.
    for (let at: CallSpan | undefined = span; at; at = waiting.get(at.start.parentTraceId ?? '')) {
      waiting.delete(at.start.traceId);
      callers.push(at);
    }
    for (const caller of callers.reverse()) ordered.add(caller);
  }
  return ordered;
}
