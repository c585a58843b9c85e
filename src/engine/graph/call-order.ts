import { directlyFollowed } from '../../core/graph/apply-trace.ts';
import { type CallSpan, callSpans } from '../../core/tracing/derive-trace.ts';
import { kindOf } from '../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../core/vocabulary/trace-event.ts';

/** One call directly followed another of the same parent. */
export interface CallOrder {
  readonly fromTraceId: string;
  readonly toTraceId: string;
  /** Only when the operations of the program between the two are looked through. */
  readonly pastOperations: boolean;
}

/** Which call of a run came after which, in order of start: what the graph makes its `sequence` edges from. */
export function callOrder(events: readonly TraceEvent[]): CallOrder[] {
  const families = Map.groupBy(callSpans(events), ({ start }) => start.parentTraceId);
  return [...families.values()].flatMap((siblings) => {
    const calls = siblings.filter(({ start }) => kindOf(start.node) !== 'operation');
    const direct = orderOf(siblings, false);
    const known = new Set(direct.map(keyOf));
    return [...direct, ...orderOf(calls, true).filter((each) => !known.has(keyOf(each)))];
  });
}

function orderOf(siblings: readonly CallSpan[], pastOperations: boolean): CallOrder[] {
  return directlyFollowed(siblings).flatMap((followed, i) =>
    followed.map(({ start }) => ({
      fromTraceId: start.traceId,
      toTraceId: siblings[i]!.start.traceId,
      pastOperations,
    })),
  );
}

const keyOf = ({ fromTraceId, toTraceId }: CallOrder) => `${fromTraceId} ${toTraceId}`;
