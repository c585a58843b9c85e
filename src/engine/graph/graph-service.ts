import type { GraphEdge } from '../../core/graph/graph-edge.ts';
import { alternativeEdges, type Relation, relatedNodes } from '../../core/graph/related-nodes.ts';
import { nearestName } from '../../core/retrieval/words.ts';
import { compareEdges } from '../../core/vocabulary/edge.ts';
import {
  type CapabilityNodeId,
  capabilityNode,
  capabilityUuid,
  kindOf,
  type NodeId,
  type NodeKind,
  parseToolId,
  splitToolId,
  type ToolId,
} from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../caller.ts';
import { type CapabilityRegistry, seenBy } from '../capabilities/capability-registry.ts';
import { type Catalogue, catalogueFor } from '../catalogue/catalogue.ts';
import { hidesTools, mayUseTool } from '../people/roles.ts';
import type { Capability, Embedder, Settings, Store } from '../ports.ts';
import { explainHyperpath, explainPath, type PathView } from './explain-path.ts';
import {
  type CapabilityById,
  type EdgeView,
  edgeView,
  type GraphReport,
  type GraphView,
  graphReport,
  graphView,
  labelOf,
  type ShownGraph,
  shownGraph,
} from './graph-view.ts';
import type { LiveGraph } from './live-graph.ts';
/** How large the graph is. */
export interface GraphSize {
  readonly nodes: number;
  readonly edges: number;
}

export interface RebuiltGraph {
  readonly traces: number;
  readonly before: GraphSize;
  readonly after: GraphSize;
}

export interface RebuildProgress {
  readonly traces: number;
  readonly of: number;
}

/** Reads the graph for people and programs; traces stored in the meantime are learned first. */
export interface GraphService {
  /** As the caller's scope lets it be seen; so are the others that take a caller. */
  view(caller?: Pick<Caller, 'who'>): Promise<GraphView>;
  /** By id, by slug, or by any spelling of a tool; an unknown one is an error that names the nearest. */
  node(name: string, caller?: Pick<Caller, 'who'>): Promise<NodeDetails>;
  /** All as in `node`; from several that are done, capabilities on the way wait for all that they use. */
  path(from: readonly string[], to: string, caller?: Pick<Caller, 'who'>): Promise<PathView>;
  stats(): Promise<GraphReport>;
  /** Learns everything again from the traces. */
  rebuild(): Promise<RebuiltGraph>;
  /** How far that is; null when nobody rebuilds. */
  rebuilding(): Promise<RebuildProgress | null>;
}

export interface GraphServiceParts {
  readonly live: LiveGraph;
  readonly store: Pick<Store, 'traces'>;
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  readonly capabilities: CapabilityRegistry;
  /** Brings what follows from capabilities into the graph. */
  readonly relate: () => Promise<void>;
  /** What traces tell of a node; null while too few runs have used it. */
  readonly statisticsOf: (node: NodeId) => Promise<NodeDetails['trace_statistics']>;
}

/** The graph, tools and capabilities visible to one user. */
interface Seen {
  readonly all: ShownGraph;
  readonly tools: Catalogue;
  readonly known: CapabilityRegistry;
}

export function createGraphService({
  live,
  store,
  settings,
  catalogue,
  capabilities,
  relate,
  statisticsOf,
}: GraphServiceParts): GraphService {
  let last: { of: readonly unknown[]; shown: ShownGraph } | undefined;
  let progress: RebuildProgress | null = null;
  let rebuilt: Promise<RebuiltGraph> | undefined;
  let related: Promise<void> | undefined;

  /** Made once per state of what it is made of. */
  function shown(): ShownGraph {
    const admitted = capabilities.all().filter(({ state }) => state !== 'candidate');
    const of = [live.current().snapshot(), catalogue(), ...admitted.map(({ id }) => id)];
    if (last?.of.length === of.length && of.every((part, i) => part === last?.of[i])) return last.shown;
    last = { of, shown: shownGraph(live.current(), catalogue(), admitted) };
    return last.shown;
  }

  /** Made each time: few keys see less than everything, and fewer of them look at the graph. */
  function shownTo(who: Principal | undefined): Seen {
    if (!hidesTools(who?.scope)) return { all: shown(), tools: catalogue(), known: capabilities };
    const known = seenBy(capabilities, { who: who! });
    const tools = catalogueFor(catalogue(), who!.scope);
    const nodes = new Set<NodeId>(known.all().map(({ id }) => capabilityNode(id)));
    const isSeen = (node: NodeId) => {
      const kind = kindOf(node);
      if (kind === 'operation') return true;
      return kind === 'tool' ? mayUseTool(who!.scope, node as ToolId) : nodes.has(node);
    };
    const admitted = known.all().filter(({ state }) => state !== 'candidate');
    return { all: shownGraph(live.current(), tools, admitted, isSeen), tools, known };
  }

  async function current(caller: Pick<Caller, 'who'> = {}): Promise<Seen> {
    // While it is rebuilt, the old one is shown instead of nothing.
    if (settings().learning.enabled && !progress) await live.catchUp();
    // A gateway that is only looked at was never told. Without a model all the rest is shown.
    related ??= relate().catch(() => {});
    await related;
    return shownTo(caller.who);
  }

  const sizeNow = (): GraphSize => {
    const { nodes, edges } = shown().graph.size;
    return { nodes, edges };
  };

  async function rebuild(): Promise<RebuiltGraph> {
    const before = sizeNow();
    const of = await store.traces.count();
    progress = { traces: 0, of };
    const traces = await live.rebuild((done) => {
      progress = { traces: done, of };
    });
    return { traces, before, after: sizeNow() };
  }

  /** The node that somebody means. */
  function resolve({ all: { graph }, known }: Seen, name: string): NodeId {
    const slugged = known.find(name);
    const meant = [name as NodeId, slugged && capabilityNode(slugged.id), toolIn(name)];
    const found = meant.find((node) => node !== undefined && graph.has(node));
    if (found) return found;
    const slugs = known.all().map(({ slug }) => slug);
    const nearest = nearestName(name, [...graph.nodes(), ...slugs]);
    throw new PmlError('not_found', `${name} is not in the graph`, {
      hint: nearest
        ? `Did you mean ${nearest}?`
        : 'Ids have the form server:tool; capabilities are called by their name.',
    });
  }

  function toolIn(name: string): NodeId | undefined {
    try {
      return parseToolId(
        name,
        settings().servers.map((server) => server.name),
      );
    } catch {
      return undefined;
    }
  }

  return {
    async view(caller) {
      const { all, known } = await current(caller);
      return graphView(all, known);
    },
    async node(name, caller) {
      const seen = await current(caller);
      const id = resolve(seen, name);
      return nodeDetails(seen.all, id, seen.tools, seen.known.get, await statisticsOf(id));
    },
    async path(from, to, caller) {
      const seen = await current(caller);
      const sources = from.map((name) => resolve(seen, name));
      const target = resolve(seen, to);
      const [only] = sources;
      if (sources.length === 1) return explainPath(seen.all.graph, [only!, target], seen.known.get);
      return explainHyperpath(seen.all, [sources, target], seen.known.get);
    },
    async stats() {
      const { all } = await current();
      return graphReport(all, capabilities.all(), await store.traces.count());
    },
    rebuild() {
      // Who asks meanwhile shares the work.
      rebuilt ??= rebuild().finally(() => {
        rebuilt = undefined;
        progress = null;
      });
      return rebuilt;
    },
    rebuilding: async () => progress,
  };
}

/** Capabilities that succeeded with the same intents: either could run where the other did. */
export async function capabilityAlternatives(
  embedder: Pick<Embedder, 'embed'>,
  capabilities: readonly Capability[],
): Promise<GraphEdge[]> {
  const serving = capabilities.filter(
    ({ state, evidence }) => state === 'active' && evidence.intents.length > 0,
  );
  if (serving.length < 2) return [];
  const served = await Promise.all(
    serving.map(async ({ id, evidence, updatedAt }) => ({
      capability: capabilityNode(id),
      intents: await embedder.embed(evidence.intents),
      lastSeenAt: updatedAt.getTime(),
    })),
  );
  return alternativeEdges(served);
}

const DEFAULTS = {
  /** Related nodes that are told. */
  related: 8,
};

/** Everything known about one node, as programs see it. */
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

function nodeDetails(
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
