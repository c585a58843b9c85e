import {
  compareEdges,
  EDGE_SOURCES,
  EDGE_TYPES,
  type EdgeSource,
  type EdgeType,
} from '../vocabulary/edge.ts';
import { kindOf, type NodeId, type NodeKind } from '../vocabulary/ids.ts';
import { fadedWeight, type GraphEdge, type NodePair, type NodeStatistics, sourceOf } from './graph-edge.ts';
import { GraphSnapshot, type NodeOrder, orderNodes } from './snapshot.ts';
import { countPaths, type PathPair } from './value-paths.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What one run showed about an edge. */
export interface EdgeSighting extends NodePair {
  readonly type: EdgeType;
  /** Calls of `to` in which the edge was seen. */
  readonly calls: number;
  readonly paths: readonly PathPair[];
  /** The run is a step of a job that showed the edge before: it is counted as a call, not as a run. */
  readonly isAgain?: boolean;
}

/** What one run showed about a node. */
export type NodeSighting = Pick<NodeStatistics, 'node' | 'calls' | 'failures' | 'repeats'>;

interface GraphNode {
  readonly statistics: Mutable<NodeStatistics>;
  readonly out: Set<Mutable<GraphEdge>>;
  readonly in: Set<Mutable<GraphEdge>>;
}

/**
 * The stored graph: nodes, and edges identified by (from, to, type). Everything it learns is a sum or a
 * maximum, so that the same runs give the same graph in any order. Edges it returns are live views: copy
 * them to keep their values.
 */
export class TypedGraph {
  readonly #nodes = new Map<NodeId, GraphNode>();
  readonly #edges = new Map<string, Mutable<GraphEdge>>();
  #newestRunAt: number | null = null;
  #nonTemplateEdges = 0;
  #order: NodeOrder | undefined;
  #snapshot: GraphSnapshot | undefined;

  constructor(edges: Iterable<GraphEdge> = [], statistics: Iterable<NodeStatistics> = []) {
    for (const edge of edges) if (edge.from !== edge.to) this.#insert({ ...edge });
    for (const each of statistics) Object.assign(this.#node(each.node).statistics, each);
    for (const { lastSeenAt } of [...this.#edges.values(), ...this.statistics()]) this.#seen(lastSeenAt);
  }

  get size(): { nodes: number; edges: number; nonTemplateEdges: number } {
    return {
      nodes: this.#nodes.size,
      edges: this.#edges.size,
      nonTemplateEdges: this.#nonTemplateEdges,
    };
  }

  /** In order of id. */
  nodes(): NodeId[] {
    return [...this.#nodes.keys()].sort();
  }

  has(node: NodeId): boolean {
    return this.#nodes.has(node);
  }

  /** In order of (from, to, type). */
  edges(): GraphEdge[] {
    return [...this.#edges.values()].sort(compareEdges);
  }

  edge(from: NodeId, to: NodeId, type: EdgeType): GraphEdge | undefined {
    return this.#edges.get(keyOf(from, to, type));
  }

  edgesFrom(node: NodeId): Iterable<GraphEdge> {
    return this.#nodes.get(node)?.out ?? [];
  }

  edgesTo(node: NodeId): Iterable<GraphEdge> {
    return this.#nodes.get(node)?.in ?? [];
  }

  /** Statistics of nodes that were called, in order of id. */
  statistics(): NodeStatistics[] {
    return this.nodes()
      .map((node) => this.#nodes.get(node)!.statistics)
      .filter(({ calls }) => calls > 0);
  }

  statisticsOf(node: NodeId): NodeStatistics {
    return this.#nodes.get(node)?.statistics ?? noStatistics(node);
  }

  weightOf(edge: GraphEdge): number {
    return fadedWeight(this.shown(edge), this.#newestRunAt);
  }

  /**
   * The edge with what runs have shown of it. A dependency that only a template states is as certain as the values or
   * the order that runs have shown between the two, until an executed plan confirms it.
   */
  shown(edge: GraphEdge): GraphEdge {
    if (edge.type !== 'dependency' || edge.observedCount > 0) return edge;
    let best = edge;
    for (const type of ['provides', 'sequence'] as const) {
      const seen = this.#edges.get(keyOf(edge.from, edge.to, type));
      if (seen && seen.observedCount > best.observedCount) best = seen;
    }
    const { source, observedCount, invocationCount, lastSeenAt } = best;
    return best === edge ? edge : { ...edge, source, observedCount, invocationCount, lastSeenAt };
  }

  /** The current graph for algorithms; built at the first use after a change. */
  snapshot(): GraphSnapshot {
    this.#order ??= orderNodes(this.#nodes.keys());
    this.#snapshot ??= new GraphSnapshot(this.#order, [...this.#edges.values()], (edge) =>
      this.weightOf(edge),
    );
    return this.#snapshot;
  }

  /** Adds a tool of the catalogue about which nothing is known yet. */
  addNode(node: NodeId): void {
    if (!this.#nodes.has(node)) this.#node(node);
  }

  /** Ensures that the edge exists, as a template if it was never seen. Undefined if it existed. */
  declare(from: NodeId, to: NodeId, type: EdgeType): GraphEdge | undefined {
    if (from === to || this.#edges.has(keyOf(from, to, type))) return undefined;
    return this.#insert(unseen(from, to, type));
  }

  /** Counts one run that showed this edge. Undefined for a self-loop. */
  observe({ from, to, type, calls, paths, isAgain }: EdgeSighting, at: number): GraphEdge | undefined {
    if (from === to) return undefined;
    const edge = this.#edges.get(keyOf(from, to, type)) ?? this.#insert(unseen(from, to, type));
    if (edge.observedCount === 0) this.#nonTemplateEdges++;
    if (!isAgain) edge.observedCount++;
    edge.invocationCount += calls;
    edge.source = sourceOf(edge.observedCount);
    edge.lastSeenAt = Math.max(edge.lastSeenAt ?? at, at);
    if (paths.length > 0 && !isAgain) edge.valuePaths = countPaths(edge.valuePaths, paths);
    this.#seen(at);
    return edge;
  }

  /** Counts one run that called this node. */
  count({ node, calls, failures, repeats }: NodeSighting, at: number): NodeStatistics {
    const { statistics } = this.#node(node);
    statistics.runs++;
    statistics.calls += calls;
    statistics.failures += failures;
    statistics.repeats += repeats;
    if (repeats > 0) statistics.repeatRuns++;
    statistics.lastSeenAt = Math.max(statistics.lastSeenAt ?? at, at);
    this.#seen(at);
    return statistics;
  }

  /**
   * Replaces all edges of a type, for edges that follow from something other than traces. Returns the
   * new and changed edges, and the removed ones.
   */
  replaceType(type: EdgeType, edges: readonly GraphEdge[]): { changed: GraphEdge[]; removed: GraphEdge[] } {
    const next = new Map(edges.map((edge) => [keyOf(edge.from, edge.to, type), edge]));
    const removed = [...this.#edges]
      .filter(([key, edge]) => edge.type === type && !next.has(key))
      .map(([, edge]) => edge);
    const changed = [...next].filter(([key, edge]) => !isSame(this.#edges.get(key), edge));
    for (const edge of removed) this.#delete(edge);
    for (const [key, edge] of changed) {
      const old = this.#edges.get(key);
      if (old) this.#delete(old);
      this.#insert({ ...edge, type });
      this.#seen(edge.lastSeenAt);
    }
    return { changed: changed.map(([, edge]) => edge), removed };
  }

  #node(id: NodeId): GraphNode {
    const known = this.#nodes.get(id);
    if (known) return known;
    const node = { statistics: noStatistics(id), out: new Set<GraphEdge>(), in: new Set<GraphEdge>() };
    this.#nodes.set(id, node);
    this.#order = undefined;
    this.#snapshot = undefined;
    return node;
  }

  #insert(edge: Mutable<GraphEdge>): Mutable<GraphEdge> {
    this.#edges.set(keyOf(edge.from, edge.to, edge.type), edge);
    this.#node(edge.from).out.add(edge);
    this.#node(edge.to).in.add(edge);
    if (edge.observedCount > 0) this.#nonTemplateEdges++;
    this.#snapshot = undefined;
    return edge;
  }

  #delete(edge: GraphEdge): void {
    this.#edges.delete(keyOf(edge.from, edge.to, edge.type));
    this.#nodes.get(edge.from)?.out.delete(edge);
    this.#nodes.get(edge.to)?.in.delete(edge);
    if (edge.observedCount > 0) this.#nonTemplateEdges--;
    this.#snapshot = undefined;
  }

  #seen(at: number | null): void {
    if (at === null) return;
    this.#newestRunAt = Math.max(this.#newestRunAt ?? at, at);
    this.#snapshot = undefined;
  }
}

/** All that a capability was seen to call, by other capabilities too. */
export function containedIn(graph: TypedGraph, capability: NodeId): ReadonlySet<NodeId> {
  const inside = new Set<NodeId>([capability]);
  for (const node of inside) {
    for (const { type, to } of graph.edgesFrom(node)) if (type === 'contains') inside.add(to);
  }
  inside.delete(capability);
  return inside;
}

/** The length separates pairs of ids whose concatenations are equal. */
function keyOf(from: NodeId, to: NodeId, type: EdgeType): string {
  return `${type} ${from.length} ${from}${to}`;
}

function unseen(from: NodeId, to: NodeId, type: EdgeType): Mutable<GraphEdge> {
  const counts = { observedCount: 0, invocationCount: 0 };
  return { from, to, type, source: 'template', ...counts, lastSeenAt: null, valuePaths: [] };
}

function noStatistics(node: NodeId): Mutable<NodeStatistics> {
  return { node, runs: 0, calls: 0, failures: 0, repeats: 0, repeatRuns: 0, lastSeenAt: null };
}

function isSame(a: GraphEdge | undefined, b: GraphEdge): boolean {
  return (
    a?.observedCount === b.observedCount &&
    a.invocationCount === b.invocationCount &&
    a.lastSeenAt === b.lastSeenAt
  );
}

export interface GraphStats {
  readonly nodes: Readonly<Record<NodeKind, number>>;
  readonly edges: Readonly<Record<EdgeType, Readonly<Record<EdgeSource, number>>>>;
  /** Edges seen in runs, divided by all possible pairs of nodes; 0 with fewer than two nodes. */
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
