import type { ErrorType, WireTraceEvent } from '../../../shared/api-types.ts';
import { estimateTokens } from '../../../shared/vocabulary.ts';
import { alignLists } from '../../align-lists.ts';

/** Matching calls of two runs; null if only one of them has the call. */
export interface CallPair {
  readonly key: string;
  readonly depth: number;
  readonly left: Call | null;
  readonly right: Call | null;
}

/** One call of a run and its children. Times are milliseconds since the first event of the run. */
export interface Call {
  readonly id: string;
  readonly node: string;
  readonly depth: number;
  readonly start: number;
  /** Null while it is running. */
  readonly end: number | null;
  readonly status: 'running' | 'success' | 'error';
  readonly args: unknown;
  readonly result: unknown;
  readonly error: string | null;
  readonly errorType: ErrorType | null;
  readonly children: readonly Call[];
}

/** The calls of a run as a forest, siblings in order of start. A call with an unknown parent is a root. */
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

/** All calls in pre-order, without descendants of closed ones. */
export function rowsOf(calls: readonly Call[], closed: ReadonlySet<string> = new Set()): Call[] {
  return calls.flatMap((call) => [call, ...(closed.has(call.id) ? [] : rowsOf(call.children, closed))]);
}

/** `code:map`: a step within a program. */
export function isOperation(node: string): boolean {
  return node.startsWith('code:');
}

/**
 * Without the program's own operations, which are many and fast; their calls take their place. If a program
 * calls nothing else, its operations are kept.
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

/** When the last call ended; running ones end `now`. */
export function endOf(calls: readonly Call[], now: number): number {
  return Math.max(0, ...rowsOf(calls).map(({ end }) => end ?? now));
}

/** Number of running leaf calls, at each time it changes. */
export function concurrencyOf(calls: readonly Call[], now: number): { at: number; count: number }[] {
  const leaves = rowsOf(calls).filter(({ children }) => children.length === 0);
  const changes = leaves.flatMap(({ start, end }) => [
    { at: start, by: 1 },
    { at: end ?? now, by: -1 },
  ]);
  // At the same time, ends come before starts: consecutive calls are not concurrent.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let count = 0;
  return changes.map(({ at, by }) => {
    count += by;
    return { at, count };
  });
}

/** All calls of one node under the same callers, together. */
export interface Flame {
  /** The nodes from the root to this one. */
  readonly key: string;
  readonly node: string;
  readonly depth: number;
  readonly calls: readonly Call[];
  readonly failed: number;
  /** Of all its calls, and what of it no call below it explains. */
  readonly ms: number;
  readonly selfMs: number;
  /** Place and extent, from 0 to 1: in proportion to `ms` where calls do not overlap. */
  readonly left: number;
  readonly width: number;
}

/** Where the time of a run went (Gregg's flame graph, from the root down): parents before children, largest first. */
export function flamesOf(calls: readonly Call[], now: number): Flame[] {
  const msOf = ({ start, end }: Call) => Math.max(0, (end ?? now) - start);
  const sum = (some: readonly Call[]) => some.reduce((total, call) => total + msOf(call), 0);
  const place = (
    some: readonly Call[],
    within: Pick<Flame, 'key' | 'depth' | 'ms' | 'left' | 'width'>,
  ): Flame[] => {
    const groups = [...Map.groupBy(some, ({ node }) => node)].map(([node, own]) => ({
      node,
      own,
      ms: sum(own),
    }));
    // Calls that overlap take longer together than their caller, within which they are drawn all the same.
    const whole = Math.max(within.ms, sum(some));
    let { left } = within;
    return groups
      .toSorted((a, b) => b.ms - a.ms)
      .flatMap(({ node, own, ms }) => {
        const below = own.flatMap(({ children }) => children);
        const flame: Flame = {
          key: `${within.key} ${node}`,
          node,
          depth: within.depth,
          calls: own,
          failed: own.filter(({ status }) => status === 'error').length,
          ms,
          selfMs: Math.max(0, ms - sum(below)),
          left,
          width: whole === 0 ? within.width / groups.length : (within.width * ms) / whole,
        };
        left += flame.width;
        return [flame, ...place(below, { ...flame, depth: within.depth + 1 })];
      });
  };
  return place(calls, { key: '', depth: 0, ms: 0, left: 0, width: 1 });
}

/** Round times for an axis: 1, 2 or 5 times a power of ten apart, at most `most` of them. */
export function ticksOf(end: number, most: number): number[] {
  if (end <= 0) return [0];
  const power = 10 ** Math.floor(Math.log10(end / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => end / size <= most) ?? end;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

function isStart({ type }: WireTraceEvent): boolean {
  return type === 'tool_start' || type === 'capability_start';
}

/**
 * Aligns two forests of calls: siblings with the same node, in their longest common subsequence, and recursively their
 * children.
 */
export function alignCalls(left: readonly Call[], right: readonly Call[]): CallPair[] {
  return alignLists(left, right, (a, b) => a.node === b.node).flatMap(([a, b]) => [
    pair(a, b),
    ...alignCalls(a?.children ?? [], b?.children ?? []),
  ]);
}

function pair(left: Call | null, right: Call | null): CallPair {
  return { key: `${left?.id ?? ''}|${right?.id ?? ''}`, depth: (left ?? right)?.depth ?? 0, left, right };
}

/** The differences in words; empty if there are none. */
export function differencesOf({ left, right }: CallPair): string[] {
  if (!left) return ['only in the second'];
  if (!right) return ['only in the first'];
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  return [
    ...(left.status === right.status ? [] : [`${left.status} became ${right.status}`]),
    ...(differs(left.args, right.args) ? ['different arguments'] : []),
    ...(left.status === 'success' && right.status === 'success' && differs(left.result, right.result)
      ? ['a different result']
      : []),
    ...(left.status === 'error' && right.status === 'error' && left.error !== right.error
      ? ['another error']
      : []),
  ];
}

/** About how many tokens a model reads of what was sent and received; 0 of a call that made others, which have them. */
export function tokensOf({ args, result, children }: Call): number {
  if (children.length > 0) return 0;
  const characters = [args, result].reduce<number>(
    (sum, value) => sum + (value === undefined ? 0 : JSON.stringify(value).length),
    0,
  );
  return estimateTokens(characters);
}

/** How a run departed from a good one, in the order in which it happened. */
export interface Departure {
  readonly what: 'failure' | 'arguments' | 'answer' | 'order' | 'missing' | 'extra' | 'time';
  readonly node: string;
  /** In the run itself; null for a call that it did not make. */
  readonly call: Call | null;
  readonly good: Call | null;
  /** For arguments and answers: the way to where they differ first; empty for the whole. */
  readonly path: readonly string[];
}

const SLOW = {
  /** Times as long as in the good run, and milliseconds more, from which on time is a difference. */
  factor: 3,
  ms: 100,
};

export function departuresOf(good: readonly Call[], bad: readonly Call[]): Departure[] {
  const pairs = alignCalls(good, bad);
  const gone = new Set(pairs.flatMap(({ left, right }) => (left && !right ? [left.node] : [])));
  const come = new Set(pairs.flatMap(({ left, right }) => (right && !left ? [right.node] : [])));
  return pairs.flatMap(({ left, right }): Departure[] => {
    const { node } = (right ?? left)!;
    const found = (what: Departure['what'], path: readonly string[] = []): Departure => ({
      what,
      node,
      call: right,
      good: left,
      path,
    });
    // What is missing here and there elsewhere was made in another order.
    if (!left) return [found(gone.has(node) ? 'order' : 'extra')];
    if (!right) return come.has(node) ? [] : [found('missing')];
    const args = differingPath(left.args, right.args);
    const answer = right.status === 'success' ? differingPath(left.result, right.result) : null;
    const [before, now] = [left, right].map(({ start, end }) => (end ?? start) - start) as [number, number];
    return [
      ...(args === null ? [] : [found('arguments', args)]),
      ...(right.status === 'error' && left.status !== 'error' ? [found('failure')] : []),
      ...(answer === null ? [] : [found('answer', answer)]),
      ...(now > SLOW.factor * before && now > before + SLOW.ms ? [found('time')] : []),
    ];
  });
}

/** The way to where two JSON values differ first; null if they do not. */
function differingPath(a: unknown, b: unknown): string[] | null {
  if (JSON.stringify(a) === JSON.stringify(b)) return null;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return [];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const inner = differingPath(memberOf(a, key), memberOf(b, key));
    if (inner) return [key, ...inner];
  }
  // The same members in another order, or a list instead of an object.
  return [];
}

/** The value at the end of such a way. */
export function valueAt(whole: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(memberOf, whole);
}

function memberOf(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined;
  return (of as Record<string, unknown>)[key];
}

/** The calls of a path in order, with consecutive repeats merged. */
export function stepsOf(path: readonly string[]): { node: string; count: number }[] {
  const steps: { node: string; count: number }[] = [];
  for (const node of path) {
    const last = steps.at(-1);
    if (last?.node === node) last.count += 1;
    else steps.push({ node, count: 1 });
  }
  return steps;
}
