import type { ErrorType, WireTraceEvent } from '../../../shared/run-types.ts';

/** One call of a run, with those it made. Times are milliseconds since the first event of the run. */
export interface Call {
  readonly id: string;
  readonly node: string;
  readonly depth: number;
  readonly start: number;
  /** Null while it is under way. */
  readonly end: number | null;
  readonly status: 'running' | 'success' | 'error';
  readonly args: unknown;
  readonly result: unknown;
  readonly error: string | null;
  readonly errorType: ErrorType | null;
  readonly children: readonly Call[];
}

/** The calls of a run as a forest, siblings in order of start. A call whose parent is unknown is a root. */
export function callsOf(events: readonly WireTraceEvent[]): Call[] {
  const starts = events.filter(isStart);
  const known = new Set(starts.map(({ trace_id }) => trace_id));
  const ends = new Map(events.filter((event) => !isStart(event)).map((end) => [end.trace_id, end]));
  const origin = Math.min(...starts.map(({ ts }) => ts));
  const childrenOf = Map.groupBy(starts, ({ parent_trace_id: parent }) =>
    parent !== null && known.has(parent) ? parent : null,
  );
  const build = (start: WireTraceEvent, depth: number): Call => {
    const end = ends.get(start.trace_id);
    return {
      id: start.trace_id,
      node: start.node,
      depth,
      start: start.ts - origin,
      end: end ? end.ts - origin : null,
      status: end ? (end.success ? 'success' : 'error') : 'running',
      args: start.args,
      result: end?.result,
      error: end?.error ?? null,
      errorType: end?.error_type ?? null,
      children: (childrenOf.get(start.trace_id) ?? []).map((child) => build(child, depth + 1)),
    };
  };
  return (childrenOf.get(null) ?? []).map((root) => build(root, 0));
}

/** Every call before those it made, without what lies below the closed ones. */
export function rowsOf(calls: readonly Call[], closed: ReadonlySet<string> = new Set()): Call[] {
  return calls.flatMap((call) => [call, ...(closed.has(call.id) ? [] : rowsOf(call.children, closed))]);
}

/** `code:map`: a step within a program. */
export function isOperation(node: string): boolean {
  return node.startsWith('code:');
}

/**
 * Without the steps of a program's own, which are many and quick; what they called stands in their place. Where
 * a program calls nothing else they are all there is.
 */
export function toolCalls(calls: readonly Call[]): readonly Call[] {
  const called = withoutOperations(calls, 0);
  return called.length > 0 ? called : calls;
}

function withoutOperations(calls: readonly Call[], depth: number): Call[] {
  return calls.flatMap((call) =>
    isOperation(call.node)
      ? withoutOperations(call.children, depth)
      : [{ ...call, depth, children: withoutOperations(call.children, depth + 1) }],
  );
}

/** When the last call ended; those under way end `now`. */
export function endOf(calls: readonly Call[], now: number): number {
  return Math.max(0, ...rowsOf(calls).map(({ end }) => end ?? now));
}

/** How many calls that made no others were under way, from each moment of change on. */
export function concurrencyOf(calls: readonly Call[], now: number): { at: number; count: number }[] {
  const leaves = rowsOf(calls).filter(({ children }) => children.length === 0);
  const changes = leaves.flatMap(({ start, end }) => [
    { at: start, by: 1 },
    { at: end ?? now, by: -1 },
  ]);
  // Of what changes in one moment the ends come first: one after the other is not both at once.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let count = 0;
  return changes.map(({ at, by }) => {
    count += by;
    return { at, count };
  });
}

/** Round moments for an axis: 1, 2 or 5 times a power of ten apart, at most `most` of them. */
export function ticksOf(end: number, most: number): number[] {
  if (end <= 0) return [0];
  const power = 10 ** Math.floor(Math.log10(end / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => end / size <= most) ?? end;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

function isStart({ type }: WireTraceEvent): boolean {
  return type === 'tool_start' || type === 'capability_start';
}
