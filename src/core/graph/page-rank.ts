import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** Share of steps that follow an edge; the rest jump to any node. */
  damping: 0.85,
  /** Converged when the ranks together change by less (L1); not scaled by the number of nodes. */
  tolerance: 1e-6,
  /** damping ^ 100 is below the tolerance, so this number is always enough. */
  maxIterations: 100,
};

/**
 * Brin & Page, "The anatomy of a large-scale hypertextual Web search engine" (1998), along weighted edges
 * of every type. A node without outgoing edges jumps to any node. Ranks add up to 1.
 */
export function pageRank(snapshot: GraphSnapshot): Map<NodeId, number> {
  const ranks = rankRows(snapshot);
  const byNode = new Map<NodeId, number>();
  for (let i = 0; i < ranks.length; i++) byNode.set(snapshot.nodes[i]!, ranks[i]!);
  return byNode;
}

function rankRows(snapshot: GraphSnapshot): Float64Array {
  const { damping, tolerance, maxIterations } = DEFAULTS;
  const { rows: size, offsets, columns: ends, values } = snapshot.directed();
  const starts = new Int32Array(ends.length);
  /** For each edge, the share of its start's rank that it passes on. */
  const shares = new Float64Array(ends.length);
  for (let node = 0; node < size; node++) {
    const [first, last] = [offsets[node]!, offsets[node + 1]!];
    let strength = 0;
    for (let edge = first; edge < last; edge++) strength += values[edge]!;
    for (let edge = first; edge < last; edge++) {
      starts[edge] = node;
      shares[edge] = values[edge]! / strength;
    }
  }
  let ranks = new Float64Array(size).fill(1 / size);
  let next = new Float64Array(size);
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    passOn(starts, ends, shares, ranks, next);
    // Rank that did not pass along an edge (jumps, and nodes without outgoing edges) is spread evenly.
    let received = 0;
    for (let node = 0; node < size; node++) received += next[node]!;
    const base = (1 - damping * received) / size;
    let change = 0;
    for (let node = 0; node < size; node++) {
      const rank = base + damping * next[node]!;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    if (change < tolerance) break;
  }
  return ranks;
}

/** Edge by edge instead of node by node: a single loop without branches is fastest. */
function passOn(
  starts: Int32Array,
  ends: Int32Array,
  shares: Float64Array,
  ranks: Float64Array,
  received: Float64Array,
): void {
  received.fill(0);
  for (let edge = 0; edge < starts.length; edge++) {
    received[ends[edge]!]! += ranks[starts[edge]!]! * shares[edge]!;
  }
}
