import type { CallSpan } from '../tracing/call-spans.ts';

const DEFAULTS = {
  /** Calls one call is said to follow directly, those that ended last: two wide layers stay linear. */
  predecessors: 32,
};

/**
 * For each of some siblings (in the order of `callSpans`) those it directly followed: they had ended when
 * it began, and nothing ran wholly between the two. In a chain that is the call before; after a parallel
 * group it is every call of the group; parallel calls never follow one another.
 *
 * This is the covering relation of an interval order. Of the calls that had ended, let `last` be the one
 * that started last: whatever ended before `last` started is covered by it, and the rest are the answer.
 * In order of end they stand together, at the end of what has ended so far: O(n log n).
 */
export function directlyFollowed(siblings: readonly CallSpan[]): CallSpan[][] {
  const byEnd = [...siblings.keys()].sort((a, b) => siblings[a]!.endTs - siblings[b]!.endTs || a - b);
  let ended = 0;
  let last = -1;
  return siblings.map((call, index) => {
    // A call without duration ends where it starts: the order of the siblings tells what came first.
    while (byEnd[ended]! < index && siblings[byEnd[ended]!]!.endTs <= call.startTs) {
      last = Math.max(last, byEnd[ended]!);
      ended++;
    }
    const found: CallSpan[] = [];
    for (let i = ended - 1; i >= 0 && found.length < DEFAULTS.predecessors; i--) {
      const before = siblings[byEnd[i]!]!;
      if (byEnd[i] !== last && before.endTs <= siblings[last]!.startTs) break;
      found.push(before);
    }
    return found;
  });
}
