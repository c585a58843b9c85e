import type { GraphEdge } from '../../core/graph/graph-edge.ts';
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
import type { Capability } from '../ports.ts';
import type { ShownGraph } from './shown-graph.ts';

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
  return { nodes, edges: graph.edges().map((edge) => edgeView(edge, graph.weightOf(edge))) };
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
