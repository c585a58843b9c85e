import type { NodeId } from '../vocabulary/ids.ts';

/** A capability by what its runs call: the view of the graph in which it is one edge over many nodes. */
export interface CapabilityUse {
  readonly capability: NodeId;
  /** Calls of each node in its code's run; the keys are its unique tools, operations and capabilities. */
  readonly calls: ReadonlyMap<NodeId, number>;
}

/** `uniform`: a node used counts 1. `log_frequency`: log2(1 + calls), so that a loop does not drown the rest. */
export type UseWeights = 'uniform' | 'log_frequency';

export function useWeight(calls: number, weights: UseWeights): number {
  return weights === 'uniform' ? 1 : Math.log2(1 + calls);
}

/** How often each node was called, in a sequence with repeats. */
export function countCalls(sequence: Iterable<NodeId>): Map<NodeId, number> {
  const calls = new Map<NodeId, number>();
  for (const node of sequence) calls.set(node, (calls.get(node) ?? 0) + 1);
  return calls;
}
