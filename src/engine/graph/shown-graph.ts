import { communities, spectralClusters } from '../../core/graph/clusters.ts';
import {
  type CapabilityUse,
  countCalls,
  type HypergraphRanks,
  hypergraphPageRank,
} from '../../core/graph/hypergraph.ts';
import { pageRank } from '../../core/graph/page-rank.ts';
import { TypedGraph } from '../../core/graph/typed-graph.ts';
import { capabilityNode, kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Capability } from '../ports.ts';

/** The graph as people look at it. What is computed on all of it at once is computed when first asked for. */
export interface ShownGraph {
  readonly graph: TypedGraph;
  communities(): ReadonlyMap<NodeId, number>;
  /** Of every capability and the tools one of them uses. */
  clusters(): ReadonlyMap<NodeId, number>;
  pageRank(): ReadonlyMap<NodeId, number>;
  /** Of the random walk between capabilities and what they use. */
  capabilityRanks(): HypergraphRanks;
}

/**
 * The tools there are, those that runs have used, and the capabilities that were admitted. Templates speak
 * of many tools that nobody here has: they would draw paths through what cannot be called.
 */
export function shownGraph(
  live: TypedGraph,
  catalogue: Catalogue,
  capabilities: readonly Capability[],
): ShownGraph {
  const isHere = (node: NodeId) =>
    kindOf(node) !== 'tool' ||
    catalogue.get(node as ToolId) !== undefined ||
    live.statisticsOf(node).calls > 0;
  const edges = live
    .edges()
    .filter(({ from, to, observedCount }) => observedCount > 0 || (isHere(from) && isHere(to)));
  const graph = new TypedGraph(edges, live.statistics());
  for (const { tool } of catalogue.entries) graph.addNode(tool.id);
  for (const { id, state } of capabilities) if (state !== 'candidate') graph.addNode(capabilityNode(id));
  return {
    graph,
    communities: once(() => communities(graph.snapshot())),
    clusters: once(() => spectralClusters(capabilities.map(useOf)).of),
    pageRank: once(() => pageRank(graph.snapshot())),
    capabilityRanks: once(() => hypergraphPageRank(capabilities.map(useOf))),
  };
}

/** Operations are left out: `map` and `filter` are in most programs and tell none from another. */
function useOf({ id, toolsUsed }: Capability): CapabilityUse {
  const calls = countCalls(toolsUsed.filter((node) => kindOf(node) !== 'operation'));
  return { capability: capabilityNode(id), calls };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
