import { type Relation, relatedNodes } from '../../core/graph/related-nodes.ts';
import { compareEdges } from '../../core/vocabulary/edge.ts';
import {
  type CapabilityNodeId,
  capabilityUuid,
  kindOf,
  type NodeId,
  type NodeKind,
  splitToolId,
  type ToolId,
} from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ShownGraph } from './graph-view.ts';
import { type CapabilityById, type EdgeView, edgeView, labelOf } from './graph-view.ts';

const DEFAULTS = {
  /** Related nodes that are told. */
  related: 8,
};

/** All there is to say of one node, as programs see it. */
export interface NodeDetails {
  readonly id: NodeId;
  readonly kind: NodeKind;
  readonly label: string;
  readonly server: string | null;
  /** Null when neither a server nor a run has said anything. */
  readonly description: string | null;
  /** JSON Schema of what it takes; null for operations and for tools that were removed. */
  readonly input_schema: unknown;
  readonly output_schema: unknown;
  readonly statistics: {
    /** Runs in which it was called. */
    readonly runs: number;
    readonly calls: number;
    /** Calls that failed or did not end. */
    readonly failures: number;
    /** Calls that directly followed another of the same node. */
    readonly repeats: number;
    readonly last_seen_at: string | null;
  };
  /** The 17 that predict success, each in [0, 1]; null while too few runs have used it. */
  readonly trace_statistics: Readonly<Record<string, number>> | null;
  /**
   * Its share of a random walk between capabilities and what they use (PageRank of the hypergraph): of all
   * capabilities for a capability, else of all that capabilities use. Null where none uses it.
   */
  readonly capability_rank: number | null;
  /** To and from it, in order of (source, target, type). */
  readonly edges: readonly EdgeView[];
  /** Best first. */
  readonly related: readonly { readonly id: NodeId; readonly relation: Relation; readonly score: number }[];
}

export function nodeDetails(
  { graph, capabilityRanks }: ShownGraph,
  id: NodeId,
  catalogue: Catalogue,
  capabilityOf: CapabilityById,
  traceStatistics: NodeDetails['trace_statistics'],
): NodeDetails {
  const kind = kindOf(id);
  const { runs, calls, failures, repeats, lastSeenAt } = graph.statisticsOf(id);
  const ranks = capabilityRanks();
  const edges = [...graph.edgesFrom(id), ...graph.edgesTo(id)].sort(compareEdges);
  return {
    id,
    kind,
    label: labelOf(id, capabilityOf),
    server: kind === 'tool' ? splitToolId(id as ToolId).server : null,
    ...definitionOf(id, kind, catalogue, capabilityOf),
    statistics: {
      runs,
      calls,
      failures,
      repeats,
      last_seen_at: lastSeenAt === null ? null : new Date(lastSeenAt).toISOString(),
    },
    trace_statistics: traceStatistics,
    capability_rank: (kind === 'capability' ? ranks.capabilities : ranks.nodes).get(id) ?? null,
    edges: edges.map((edge) => edgeView(graph.shown(edge), graph.weightOf(edge))),
    related: relatedNodes(graph, id, { limit: DEFAULTS.related }).map(({ node, relation, score }) => ({
      id: node,
      relation,
      score,
    })),
  };
}

function definitionOf(id: NodeId, kind: NodeKind, catalogue: Catalogue, capabilityOf: CapabilityById) {
  if (kind === 'capability') {
    const capability = capabilityOf(capabilityUuid(id as CapabilityNodeId));
    return {
      description: capability?.description ?? null,
      input_schema: capability?.parametersSchema ?? null,
      output_schema: capability?.outputSchema ?? null,
    };
  }
  const tool = kind === 'tool' ? catalogue.get(id as ToolId)?.tool : undefined;
  return {
    description: tool?.description ?? null,
    input_schema: tool?.inputSchema ?? null,
    output_schema: tool?.outputSchema ?? null,
  };
}
