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
  return new Map(snapshot.nodes.map((node, i) => [node, ranks[i]!]));
}

function rankRows(snapshot: GraphSnapshot): Float64Array {
  const { damping, tolerance, maxIterations } = DEFAULTS;
  const { out, in: into } = snapshot.directed();
  const size = out.rows;
  // Per node 1 / (weights of its edges): a rank times it is what each unit of weight passes on.
  const share = new Float64Array(size);
  for (let node = 0; node < size; node++) {
    let strength = 0;
    for (let entry = out.offsets[node]!; entry < out.offsets[node + 1]!; entry++)
      strength += out.values[entry]!;
    share[node] = strength > 0 ? 1 / strength : 0;
  }
  const { offsets, columns, values } = into;
  let ranks = new Float64Array(size).fill(1 / size);
  let next = new Float64Array(size);
  const passed = new Float64Array(size);
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    let stuck = 0;
    for (let node = 0; node < size; node++) {
      passed[node] = ranks[node]! * share[node]!;
      if (share[node] === 0) stuck += ranks[node]!;
    }
    const base = (1 - damping + damping * stuck) / size;
    let change = 0;
    for (let node = 0; node < size; node++) {
      let received = 0;
      for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) {
        received += passed[columns[entry]!]! * values[entry]!;
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
