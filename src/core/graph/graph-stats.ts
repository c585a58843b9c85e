import { EDGE_SOURCES, EDGE_TYPES, type EdgeSource, type EdgeType } from '../vocabulary/edge.ts';
import { kindOf, type NodeKind } from '../vocabulary/ids.ts';
import type { TypedGraph } from './typed-graph.ts';

export interface GraphStats {
  readonly nodes: Readonly<Record<NodeKind, number>>;
  readonly edges: Readonly<Record<EdgeType, Readonly<Record<EdgeSource, number>>>>;
  /** Edges seen in runs, over all possible pairs of nodes; 0 with fewer than two nodes. */
  readonly density: number;
}

export function graphStats(graph: TypedGraph): GraphStats {
  const nodes: Record<NodeKind, number> = { tool: 0, capability: 0, operation: 0 };
  for (const node of graph.nodes()) nodes[kindOf(node)]++;
  const edges = Object.fromEntries(
    EDGE_TYPES.map((type) => [type, Object.fromEntries(EDGE_SOURCES.map((source) => [source, 0]))]),
  ) as Record<EdgeType, Record<EdgeSource, number>>;
  for (const { type, source } of graph.edges()) edges[type][source]++;
  const { nodes: count, nonTemplateEdges } = graph.size;
  return { nodes, edges, density: count < 2 ? 0 : nonTemplateEdges / (count * (count - 1)) };
}
