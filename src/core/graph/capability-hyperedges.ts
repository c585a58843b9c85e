import { compareEdges } from '../vocabulary/edge.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, ORDER_BEARING } from './graph-edge.ts';
import type { CapabilityUse } from './hypergraph.ts';
import type { Hyperedge } from './hyperpaths.ts';
import type { GraphSnapshot } from './snapshot.ts';
import { weight } from './weight.ts';

/** A capability is done when all of its nodes are; as sure as that it contains them. */
const COMPLETION_COST = 1 / weight('contains', 'observed');

/**
 * The graph as B-arcs: every order-bearing pair of nodes is one with a single tail and cost 1 / weight,
 * every capability one from all of its unique nodes to itself. What follows a capability thus waits for
 * the whole of it, where runs say so (see `waitsForAll`).
 */
export function capabilityHyperedges(snapshot: GraphSnapshot, uses: readonly CapabilityUse[]): Hyperedge[] {
  const { offsets, columns, values, origins, rows } = snapshot.directed(ORDER_BEARING);
  const arcs: Hyperedge[] = [];
  for (let row = 0; row < rows; row++) {
    for (let entry = offsets[row]!; entry < offsets[row + 1]!; entry++) {
      const [tail, head] = [snapshot.nodes[row]!, snapshot.nodes[columns[entry]!]!];
      if (kindOf(tail) === 'capability' && !waitsForAll(snapshot.edges[origins[entry]!]!)) continue;
      arcs.push({ id: `${tail} -> ${head}`, tail: [tail], head, cost: 1 / values[entry]! });
    }
  }
  for (const { capability, calls } of uses) {
    const tail = [...calls.keys()].filter((node) => node !== capability);
    if (tail.length > 0) arcs.push({ id: capability, tail, head: capability, cost: COMPLETION_COST });
  }
  return arcs;
}

/**
 * Whether what follows the capability depends on it as a whole and not on its last tool: it took a value
 * of what the capability returned, a plan said so, or it came after the capability in three runs or more.
 */
function waitsForAll({ type, source }: GraphEdge): boolean {
  return source === 'observed' || (source === 'inferred' && type !== 'sequence');
}

/** The unique nodes of each capability as the graph saw them, for capabilities whose code is not at hand. */
export function containedUses(snapshot: GraphSnapshot): CapabilityUse[] {
  const uses = new Map<NodeId, Map<NodeId, number>>();
  const contained = snapshot.edges.filter(
    ({ type, from, observedCount }) =>
      type === 'contains' && kindOf(from) === 'capability' && observedCount > 0,
  );
  for (const { from, to, observedCount, invocationCount } of contained.sort(compareEdges)) {
    const calls = uses.get(from) ?? new Map<NodeId, number>();
    uses.set(from, calls.set(to, invocationCount / observedCount));
  }
  return [...uses].map(([capability, calls]) => ({ capability, calls }));
}
