import type { NodeId } from '../vocabulary/ids.ts';

const DEFAULTS = {
  damping: 0.85,
  /** Converged when the ranks together change by less (L1). */
  tolerance: 1e-9,
  /** damping ^ 150 is below the tolerance. */
  maxIterations: 150,
  weights: 'uniform' as UseWeights,
};

/** A capability and the nodes that its runs call: one hyperedge over many nodes. */
export interface CapabilityUse {
  readonly capability: NodeId;
  /** Number of calls of each node in a run of its code; the keys are its tools, operations and capabilities. */
  readonly calls: ReadonlyMap<NodeId, number>;
}

/** `uniform`: each used node counts 1. `log_frequency`: log2(1 + calls), so that a loop does not dominate. */
export type UseWeights = 'uniform' | 'log_frequency';

export function useWeight(calls: number, weights: UseWeights): number {
  return weights === 'uniform' ? 1 : Math.log2(1 + calls);
}

/** Number of calls of each node, in a sequence with repeats. */
export function countCalls(sequence: Iterable<NodeId>): Map<NodeId, number> {
  const calls = new Map<NodeId, number>();
  for (const node of sequence) calls.set(node, (calls.get(node) ?? 0) + 1);
  return calls;
}

export interface HypergraphRanks {
  /** Ranks of all nodes that a capability uses; they add up to 1. */
  readonly nodes: ReadonlyMap<NodeId, number>;
  /** Share of the walk that passes through each capability. */
  readonly capabilities: ReadonlyMap<NodeId, number>;
}

/**
 * PageRank of the random walk on a hypergraph (Zhou, Huang & Schölkopf, "Learning with hypergraphs", 2006):
 * from a node to one of the capabilities that use it, from there to one of the nodes it uses, each chosen
 * in proportion to the weight of the use.
 */
export function hypergraphPageRank(
  uses: readonly CapabilityUse[],
  weights: UseWeights = DEFAULTS.weights,
): HypergraphRanks {
  const { damping, tolerance, maxIterations } = DEFAULTS;
  const nodes = [...new Set(uses.flatMap(({ calls }) => [...calls.keys()]))].sort();
  const index = new Map(nodes.map((node, i) => [node, i]));
  const members = uses.map(({ calls }) =>
    [...calls].map(([node, count]) => ({ at: index.get(node)!, weight: useWeight(count, weights) })),
  );
  const inNode = new Float64Array(nodes.length);
  const inUse = members.map((each) => each.reduce((sum, { weight }) => sum + weight, 0));
  for (const { at, weight } of members.flat()) inNode[at]! += weight;

  let ranks = new Float64Array(nodes.length).fill(1 / nodes.length);
  const through = new Float64Array(uses.length);
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    const next = new Float64Array(nodes.length).fill((1 - damping) / nodes.length);
    for (const [i, each] of members.entries()) {
      through[i] = each.reduce((sum, { at, weight }) => sum + (ranks[at]! * weight) / inNode[at]!, 0);
      for (const { at, weight } of each) next[at]! += (damping * through[i]! * weight) / inUse[i]!;
    }
    const change = next.reduce((sum, rank, i) => sum + Math.abs(rank - ranks[i]!), 0);
    ranks = next;
    if (change < tolerance) break;
  }
  return {
    nodes: new Map(nodes.map((node, i) => [node, ranks[i]!])),
    capabilities: new Map(uses.map(({ capability }, i) => [capability, through[i]!])),
  };
}
