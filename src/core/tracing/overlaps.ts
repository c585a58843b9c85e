interface Interval {
  readonly startTs: number;
  readonly endTs: number;
}

/**
 * For each interval the indices of those that share more than a boundary with it, in their order, the
 * first `limit`. A sweep over intervals sorted by start: O(n log n + pairs listed).
 */
export function overlaps(intervals: readonly Interval[], limit: number): number[][] {
  const byEnd = intervals.map((_, i) => i).sort((a, b) => intervals[a]!.endTs - intervals[b]!.endTs);
  /** What started before the current one and goes on, in order of start. */
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
