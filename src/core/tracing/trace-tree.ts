import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { type CallSpan, callSpans } from './call-spans.ts';

/** A call and how deep it lies in the run: 0 for those the run itself made. */
export interface TreeRow {
  readonly span: CallSpan;
  readonly depth: number;
  /** Whether it is the last of its parent's calls. */
  readonly isLast: boolean;
}

/** The calls of a run as a tree, each before its own, siblings in order of start. */
export function traceTree(events: readonly TraceEvent[]): TreeRow[] {
  const spans = callSpans(events);
  const known = new Set(spans.map(({ start }) => start.traceId));
  const parentOf = ({ start: { parentTraceId } }: CallSpan) =>
    parentTraceId !== null && known.has(parentTraceId) ? parentTraceId : null;
  const children = Map.groupBy(spans, parentOf);
  const rows: TreeRow[] = [];
  // A stack instead of recursion: nobody promised that a tree is flat.
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
