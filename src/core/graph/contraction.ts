import type { NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, ORDER_BEARING } from './graph-edge.ts';
import { type ShortestPath, shortestPath } from './shortest-path.ts';
import { GraphSnapshot, orderNodes } from './snapshot.ts';
import type { TypedGraph } from './typed-graph.ts';

/** A capability and what its code calls, in order. */
export interface CapabilitySteps {
  readonly capability: NodeId;
  /** With repeats; not empty. */
  readonly sequence: readonly NodeId[];
}

export interface ContractedPath extends ShortestPath {
  /** The path with every super-node replaced by its steps. */
  readonly expanded: readonly NodeId[];
}

/**
 * Two-level path finding after contraction hierarchies (Geisberger et al., 2008): each capability becomes
 * a super-node that is entered like its first step and left like its last, so that a path may pass it as
 * one step; what lies inside is unfolded afterwards. Its steps stay in the graph beside it.
 */
export class ContractedGraph {
  readonly #snapshot: GraphSnapshot;
  readonly #steps: ReadonlyMap<NodeId, readonly NodeId[]>;

  constructor(graph: TypedGraph, capabilities: readonly CapabilitySteps[]) {
    this.#steps = new Map(capabilities.map(({ capability, sequence }) => [capability, sequence]));
    const shortcuts = capabilities.flatMap((each) => [...shortcutsOf(graph, each)]);
    const nodes = orderNodes(new Set([...graph.nodes(), ...this.#steps.keys()]));
    const edges = [...graph.edges(), ...shortcuts];
    this.#snapshot = new GraphSnapshot(nodes, edges, (edge) => graph.weightOf(edge));
  }

  path(from: NodeId, to: NodeId): ContractedPath | null {
    const path = shortestPath(this.#snapshot, from, to);
    return path && { ...path, expanded: this.expand(path.nodes) };
  }

  /** Steps of capabilities that are capabilities are unfolded too; one inside itself stays as it is. */
  expand(nodes: readonly NodeId[]): NodeId[] {
    const unfold = (node: NodeId, inside: readonly NodeId[]): readonly NodeId[] => {
      const steps = inside.includes(node) ? undefined : this.#steps.get(node);
      return steps?.flatMap((step) => unfold(step, [...inside, node])) ?? [node];
    };
    return nodes.flatMap((node) => unfold(node, []));
  }
}

/** Edges into the first step also enter the capability, those out of the last also leave it. */
function* shortcutsOf(graph: TypedGraph, { capability, sequence }: CapabilitySteps): Generator<GraphEdge> {
  const inside = new Set([...sequence, capability]);
  const isOrder = ({ type }: GraphEdge) => ORDER_BEARING.includes(type);
  for (const edge of graph.edgesTo(sequence[0]!)) {
    if (isOrder(edge) && !inside.has(edge.from)) yield { ...edge, to: capability };
  }
  for (const edge of graph.edgesFrom(sequence.at(-1)!)) {
    if (isOrder(edge) && !inside.has(edge.to)) yield { ...edge, from: capability };
  }
}
