import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** Share of steps that follow an edge; the rest jump to any node. */
  damping: 0.85,
  /** Change of all ranks together (L1) at which it is done; not scaled by the number of nodes. */
  tolerance: 1e-6,
  /** damping ^ 100 is below the tolerance, so this many always suffice. */
  maxIterations: 100,
};

/**
 * Brin & Page, "The anatomy of a large-scale hypertextual Web search engine" (1998), along weighted edges
 * of every type. A node without a way out jumps anywhere. Ranks add up to 1.
 */
export function pageRank(snapshot: GraphSnapshot): Map<NodeId, number> {
  const ranks = rankRows(snapshot);
  const byNode = new Map<NodeId, number>();
  for (let i = 0; i < ranks.length; i++) byNode.set(snapshot.nodes[i]!, ranks[i]!);
  return byNode;
}

function rankRows(snapshot: GraphSnapshot): Float64Array {
  const { damping, tolerance, maxIterations } = DEFAULTS;
  const { out, in: into } = snapshot.directed();
  const size = out.rows;
  const strength = new Float64Array(size);
  for (let node = 0; node < size; node++) {
    for (let entry = out.offsets[node]!; entry < out.offsets[node + 1]!; entry++) {
      strength[node]! += out.values[entry]!;
    }
  }
  const { offsets, columns } = into;
  // Per edge the share of its start's rank that it passes on.
  const shares = new Float64Array(columns.length);
  for (let entry = 0; entry < shares.length; entry++) {
    shares[entry] = into.values[entry]! / strength[columns[entry]!]!;
  }
  let ranks = new Float64Array(size).fill(1 / size);
  let next = new Float64Array(size);
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    let stuck = 0;
    for (let node = 0; node < size; node++) if (strength[node] === 0) stuck += ranks[node]!;
    const base = (1 - damping + damping * stuck) / size;
    let change = 0;
    for (let node = 0; node < size; node++) {
      let received = 0;
      const end = offsets[node + 1]!;
      for (let entry = offsets[node]!; entry < end; entry++) {
        received += ranks[columns[entry]!]! * shares[entry]!;
      }
      const rank = base + damping * received;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    if (change < tolerance) break;
  }
  return ranks;
}
