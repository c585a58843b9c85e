import type { Problem } from './problem.ts';

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly line: number;
}

/** One problem per group of files that import each other, with a shortest cycle. */
export function importCycles(arrows: readonly Arrow[]): Problem[] {
  const outgoing = Map.groupBy(arrows, ({ from }) => from);
  const knotted = new Set<string>();
  const problems: Problem[] = [];
  for (const start of [...outgoing.keys()].sort()) {
    if (knotted.has(start)) continue;
    const round = shortestRound(start, outgoing);
    const [first] = round;
    if (!first) continue;
    for (const { from } of round) knotted.add(from);
    const way = [start, ...round.map(({ to }) => to)].join(' -> ');
    problems.push({ file: start, line: first.line, message: `is part of an import cycle: ${way}` });
  }
  return problems;
}

/** Breadth-first search from a file back to itself; empty if there is no cycle. */
function shortestRound(start: string, outgoing: ReadonlyMap<string, readonly Arrow[]>): Arrow[] {
  const arrivals = new Map<string, Arrow>();
  const queue = [start];
  for (const file of queue) {
    for (const arrow of outgoing.get(file) ?? []) {
      if (arrivals.has(arrow.to)) continue;
      arrivals.set(arrow.to, arrow);
      if (arrow.to === start) return traceBack(start, arrivals);
      queue.push(arrow.to);
    }
  }
  return [];
}

function traceBack(start: string, arrivals: ReadonlyMap<string, Arrow>): Arrow[] {
  const round: Arrow[] = [];
  let at = start;
  do {
    const arrow = arrivals.get(at)!;
    round.unshift(arrow);
    at = arrow.from;
  } while (at !== start);
  return round;
}
