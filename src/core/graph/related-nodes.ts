import { dot } from '../numeric/matrices.ts';
import { EDGE_TYPES, type EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, ORDER_BEARING, sourceOf, weight } from './graph-edge.ts';
import { type RelatedOptions, relatednessOf } from './relatedness.ts';
import type { TypedGraph } from './typed-graph.ts';

const DEFAULTS = {
  limit: 5,
  /** A node related only through others counts at most as much as the weakest template. */
  indirect: weight('sequence', 'template'),
  /** An order counts as usual if it was seen this many times as often as the other. */
  usualOrder: 2,
  /** Least cosine of two intents that count as the same. */
  sameIntent: 0.85,
  /** Share of each capability's intents that the other must serve as well. */
  share: 0.5,
};

export interface RelatedTool {
  readonly node: NodeId;
  readonly relation: Relation;
  /** In (0, 1). */
  readonly score: number;
}

/**
 * What to show beside a tool: its neighbours, each with the weight of its strongest edge times the share
 * of the tool's runs that showed the edge, (runs + 1) / (runs of the tool + 2); after them, nodes with the
 * same neighbours. Best first; ties in order of id.
 */
export function relatedNodes(
  graph: TypedGraph,
  node: NodeId,
  { limit = DEFAULTS.limit, accepts = () => true }: RelatedOptions = {},
): RelatedTool[] {
  const { runs: runsOfNode } = graph.statisticsOf(node);
  const direct = neighbours(graph, node)
    .filter((each) => accepts(each.node))
    .map((each) => ({
      node: each.node,
      relation: relationOf(graph, node, each.node),
      score: (each.weight * (each.runs + 1)) / (Math.max(runsOfNode, each.runs) + 2),
    }));
  const known = new Set(direct.map((each) => each.node));
  const acceptsRest = (other: NodeId) => accepts(other) && !known.has(other);
  const indirect = relatednessOf(graph.snapshot()).top(node, { limit, accepts: acceptsRest });
  return [
    ...direct,
    ...indirect.map((each) => ({
      node: each.node,
      relation: 'used_together' as const,
      score: DEFAULTS.indirect * each.score,
    })),
  ]
    .sort((a, b) => b.score - a.score || (a.node < b.node ? -1 : 1))
    .slice(0, limit);
}

/** `in`: nodes before; `out`: nodes after. */
export type Direction = 'in' | 'out' | 'both';

export interface Neighbour {
  readonly node: NodeId;
  readonly edges: readonly GraphEdge[];
  /** Number of runs of the edge with most runs. */
  readonly runs: number;
  /** Number of calls of the edge with most calls. */
  readonly calls: number;
  /** The greatest weight of its edges. */
  readonly weight: number;
}

export interface NeighbourOptions {
  readonly direction?: Direction;
  readonly types?: readonly EdgeType[];
}

/** By runs, then by weight, then by id. Empty for an unknown node. */
export function neighbours(
  graph: TypedGraph,
  node: NodeId,
  { direction = 'both', types = EDGE_TYPES }: NeighbourOptions = {},
): Neighbour[] {
  const found = new Map<NodeId, GraphEdge[]>();
  const add = (other: NodeId, edge: GraphEdge) => {
    if (!types.includes(edge.type)) return;
    const edges = found.get(other);
    if (edges) edges.push(edge);
    else found.set(other, [edge]);
  };
  if (direction !== 'out') for (const edge of graph.edgesTo(node)) add(edge.from, edge);
  if (direction !== 'in') for (const edge of graph.edgesFrom(node)) add(edge.to, edge);
  return [...found]
    .map(([other, edges]) => ({
      node: other,
      edges,
      runs: Math.max(...edges.map(({ observedCount }) => observedCount)),
      calls: Math.max(...edges.map(({ invocationCount }) => invocationCount)),
      weight: Math.max(...edges.map((edge) => graph.weightOf(edge))),
    }))
    .sort((a, b) => b.runs - a.runs || b.weight - a.weight || (a.node < b.node ? -1 : 1));
}

export type Relation = 'often_before' | 'often_after' | 'used_together';

/** The order of `other` relative to `node`, by the runs that showed either order, otherwise by templates. */
export function relationOf(graph: TypedGraph, node: NodeId, other: NodeId): Relation {
  const sum = (from: NodeId, to: NodeId, value: (edge: GraphEdge) => number) =>
    ORDER_BEARING.map((type) => graph.edge(from, to, type)).reduce(
      (all, edge) => all + (edge ? value(edge) : 0),
      0,
    );
  const orders = [(edge: GraphEdge) => edge.observedCount, (edge: GraphEdge) => graph.weightOf(edge)];
  for (const value of orders) {
    const [before, after] = [sum(other, node, value), sum(node, other, value)];
    if (before === 0 && after === 0) continue;
    if (before >= DEFAULTS.usualOrder * after) return 'often_before';
    if (after >= DEFAULTS.usualOrder * before) return 'often_after';
    return 'used_together';
  }
  return 'used_together';
}

/** A capability and the intents of runs in which it succeeded. */
interface ServedIntents {
  readonly capability: NodeId;
  /** Unit vectors of one model. */
  readonly intents: readonly Float32Array[];
  /** Time of the newest of those runs, in milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/**
 * Pairs of capabilities that serve the same intents: either could run in place of the other. One edge per
 * pair, from the lesser id to the greater; its count is the smaller number of common runs, and its time the
 * older of both last runs.
 */
export function alternativeEdges(
  capabilities: readonly ServedIntents[],
  sameIntent: number = DEFAULTS.sameIntent,
): GraphEdge[] {
  const sorted = capabilities.toSorted((a, b) => (a.capability < b.capability ? -1 : 1));
  return sorted.flatMap((a, i) =>
    sorted.slice(i + 1).flatMap((b) => {
      const [aAlsoByB, bAlsoByA] = [alsoServed(a, b, sameIntent), alsoServed(b, a, sameIntent)];
      const isAlternative =
        Math.min(aAlsoByB, bAlsoByA) > 0 &&
        aAlsoByB >= DEFAULTS.share * a.intents.length &&
        bAlsoByA >= DEFAULTS.share * b.intents.length;
      if (!isAlternative) return [];
      const observedCount = Math.min(aAlsoByB, bAlsoByA);
      return {
        from: a.capability,
        to: b.capability,
        type: 'alternative' as const,
        source: sourceOf(observedCount),
        observedCount,
        invocationCount: observedCount,
        lastSeenAt: Math.min(a.lastSeenAt, b.lastSeenAt),
        valuePaths: [],
      };
    }),
  );
}

/** How many intents of `one` `other` has served as well. */
function alsoServed(one: ServedIntents, other: ServedIntents, sameIntent: number): number {
  return one.intents.filter((a) => other.intents.some((b) => dot(a, b) >= sameIntent)).length;
}
