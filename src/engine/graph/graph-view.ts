import { communities, spectralClusters } from '../../core/graph/clusters.ts';
import type { GraphEdge } from '../../core/graph/graph-edge.ts';
import {
  type CapabilityUse,
  countCalls,
  type HypergraphRanks,
  hypergraphPageRank,
} from '../../core/graph/hypergraph.ts';
import { capabilityHyperedges, containedUses, type Hyperedge } from '../../core/graph/hyperpaths.ts';
import { pageRank } from '../../core/graph/page-rank.ts';
import { type GraphStats, graphStats, TypedGraph } from '../../core/graph/typed-graph.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import type { EdgeSource, EdgeType } from '../../core/vocabulary/edge.ts';
import {
  type CapabilityNodeId,
  capabilityNode,
  capabilityUuid,
  kindOf,
  type NodeId,
  type NodeKind,
  splitToolId,
  type ToolId,
} from '../../core/vocabulary/ids.ts';
import type { CapabilityRegistry } from '../capabilities/capability-registry.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Capability } from '../ports.ts';

/** The graph as programs see it. Nodes in order of id, edges in order of (source, target, type). */
export interface GraphView {
  readonly nodes: readonly NodeView[];
  readonly edges: readonly EdgeView[];
}

export interface NodeView {
  readonly id: NodeId;
  readonly kind: NodeKind;
  readonly label: string;
  /** Of tools; null for all else. */
  readonly server: string | null;
  /** By Louvain, numbered by size, 0 the largest. */
  readonly community: number;
  /** By spectral co-clustering of capabilities with what they use; null for what none of them uses. */
  readonly cluster: number | null;
  /** All of them add up to 1. */
  readonly pagerank: number;
  /** Of capabilities, without repeats, in order of first use. */
  readonly tools_used?: readonly NodeId[];
  /** Of capabilities that call others, without repeats. */
  readonly capabilities_used?: readonly CapabilityNodeId[];
  /** Of capabilities, with repeats. */
  readonly tools_sequence?: readonly string[];
}

export interface EdgeView {
  readonly source: NodeId;
  readonly target: NodeId;
  readonly edge_type: EdgeType;
  readonly edge_source: EdgeSource;
  readonly weight: number;
  readonly observed_count: number;
  readonly invocation_count: number;
}

/** A capability by its id; undefined when it was forgotten. */
export type CapabilityById = (id: string) => Capability | undefined;

export function graphView(
  shown: ShownGraph,
  { get: capabilityOf, find }: Pick<CapabilityRegistry, 'get' | 'find'>,
): GraphView {
  const { graph } = shown;
  const [communities, clusters, pageRank] = [shown.communities(), shown.clusters(), shown.pageRank()];
  const nodes = graph.nodes().map((id): NodeView => {
    const kind = kindOf(id);
    const capability =
      kind === 'capability' ? capabilityOf(capabilityUuid(id as CapabilityNodeId)) : undefined;
    return {
      id,
      kind,
      label: labelOf(id, capabilityOf),
      server: kind === 'tool' ? splitToolId(id as ToolId).server : null,
      community: communities.get(id) ?? 0,
      cluster: clusters.get(id) ?? null,
      pagerank: pageRank.get(id) ?? 0,
      ...(capability && {
        tools_used: capability.toolsUsed,
        ...calledBy(capability, find),
        tools_sequence: capability.toolInvocations.map((call) => (call as { tool: string }).tool),
      }),
    };
  });
  return { nodes, edges: graph.edges().map((edge) => edgeView(graph.shown(edge), graph.weightOf(edge))) };
}

/** What its program calls, as far as it is there; none is not said. */
function calledBy({ staticStructure }: Capability, find: CapabilityRegistry['find']) {
  const { nodes = [] } = (staticStructure ?? {}) as Partial<StaticStructure>;
  const slugs = nodes.flatMap((node) => (node.type === 'capability' ? [node.slug] : []));
  const called = slugs.flatMap((slug) => find(slug)?.id ?? []).map(capabilityNode);
  return called.length > 0 && { capabilities_used: [...new Set(called)] };
}

export function edgeView(edge: GraphEdge, weight: number): EdgeView {
  return {
    source: edge.from,
    target: edge.to,
    edge_type: edge.type,
    edge_source: edge.source,
    weight,
    observed_count: edge.observedCount,
    invocation_count: edge.invocationCount,
  };
}

/** What people call it: a tool's name, a capability's slug, an operation's name. */
export function labelOf(node: NodeId, capabilityOf: CapabilityById): string {
  if (kindOf(node) !== 'capability') return splitToolId(node as ToolId).tool;
  const id = capabilityUuid(node as CapabilityNodeId);
  return capabilityOf(id)?.slug ?? id;
}

/** The graph as people see it. Figures over the whole graph are computed when first needed. */
export interface ShownGraph {
  readonly graph: TypedGraph;
  communities(): ReadonlyMap<NodeId, number>;
  /** Of every capability and the tools one of them uses. */
  clusters(): ReadonlyMap<NodeId, number>;
  pageRank(): ReadonlyMap<NodeId, number>;
  /** Of the random walk between capabilities and what they use. */
  capabilityRanks(): HypergraphRanks;
  /** Its edges, and each capability as reached once all that it uses is. */
  arcs(): readonly Hyperedge[];
}

/**
 * The tools there are, those that runs have used, and the capabilities that were admitted. Templates speak
 * of many tools that nobody here has: they would draw paths through what cannot be called.
 */
export function shownGraph(
  live: TypedGraph,
  catalogue: Catalogue,
  capabilities: readonly Capability[],
  /** Only these; absent: all. */
  isSeen: (node: NodeId) => boolean = () => true,
): ShownGraph {
  const isHere = (node: NodeId) =>
    kindOf(node) !== 'tool' ||
    catalogue.get(node as ToolId) !== undefined ||
    live.statisticsOf(node).calls > 0;
  const edges = live
    .edges()
    .filter(({ from, to, observedCount }) => observedCount > 0 || (isHere(from) && isHere(to)))
    .filter(({ from, to }) => isSeen(from) && isSeen(to));
  const graph = new TypedGraph(
    edges,
    live.statistics().filter(({ node }) => isSeen(node)),
  );
  for (const { tool } of catalogue.entries) graph.addNode(tool.id);
  for (const { id, state } of capabilities) if (state !== 'candidate') graph.addNode(capabilityNode(id));
  return {
    graph,
    communities: once(() => communities(graph.snapshot())),
    clusters: once(() => spectralClusters(capabilities.map(useOf)).of),
    pageRank: once(() => pageRank(graph.snapshot())),
    capabilityRanks: once(() => hypergraphPageRank(capabilities.map(useOf))),
    arcs: once(() => {
      const snapshot = graph.snapshot();
      const uses = new Map(
        // What was forgotten is known by what runs saw of it.
        [...containedUses(snapshot), ...capabilities.map(useOf)].map((use) => [use.capability, use]),
      );
      return capabilityHyperedges(snapshot, [...uses.values()]);
    }),
  };
}

/** Operations are left out: most programs use `map` and `filter`, so they distinguish nothing. */
function useOf({ id, toolsUsed }: Capability): CapabilityUse {
  const calls = countCalls(toolsUsed.filter((node) => kindOf(node) !== 'operation'));
  return { capability: capabilityNode(id), calls };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Statistics of the graph, as programs see them. */
export interface GraphReport extends GraphStats {
  readonly communities: number;
  /** Traces in the store. */
  readonly traces: number;
  readonly capabilities: {
    readonly total: number;
    /** Whose program says that a value of one step is used by another. */
    readonly with_provides: number;
    /** Null without any capability. */
    readonly share_with_provides: number | null;
  };
}

export function graphReport(
  { graph, communities }: ShownGraph,
  capabilities: readonly Capability[],
  traces: number,
): GraphReport {
  const total = capabilities.length;
  const withProvides = capabilities.filter(hasProvides).length;
  return {
    ...graphStats(graph),
    communities: new Set(communities().values()).size,
    traces,
    capabilities: {
      total,
      with_provides: withProvides,
      share_with_provides: total === 0 ? null : withProvides / total,
    },
  };
}

function hasProvides({ staticStructure }: Capability): boolean {
  const { edges = [] } = (staticStructure ?? {}) as Partial<StaticStructure>;
  return edges.some(({ type }) => type === 'provides');
}
