import { describe, expect, test } from 'vitest';
import { node } from '../../../test/support/random-graph.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { communities, spectralClusters } from './clusters.ts';
import { hypergraphPageRank } from './hypergraph.ts';
import { capabilityHyperedges, containedUses, Hyperpaths, shortestPath } from './hyperpaths.ts';
import { pageRank } from './page-rank.ts';
import { neighbours } from './related-nodes.ts';
import { localAlpha, relatednessOf } from './relatedness.ts';
import { graphStats, TypedGraph } from './typed-graph.ts';

/** Every query of a graph about two nodes. */
function ask(graph: TypedGraph, a: NodeId, b: NodeId) {
  const snapshot = graph.snapshot();
  const related = relatednessOf(snapshot);
  const uses = containedUses(snapshot);
  return {
    between: related.between(a, b),
    top: related.top(a),
    context: related.toContext([a]),
    path: shortestPath(snapshot, a, b),
    hyperpath: new Hyperpaths([a], capabilityHyperedges(snapshot, uses)).pathTo(b)?.cost ?? null,
    neighbours: neighbours(graph, a),
    ranks: pageRank(snapshot),
    hyperRanks: hypergraphPageRank(uses),
    communities: communities(snapshot),
    clusters: spectralClusters(uses),
    alpha: localAlpha(snapshot, [a]),
    stats: graphStats(graph),
  };
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (value instanceof Map) return numbersIn([...value.values()]);
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(numbersIn);
  return [];
}

describe('[GRAPH-26] odd graphs', () => {
  test('an empty graph gives empty answers', () => {
    const answers = ask(new TypedGraph(), node(0), node(1));
    expect(answers).toMatchObject({
      between: 0,
      top: [],
      path: null,
      hyperpath: null,
      alpha: 1,
    });
    expect([answers.ranks.size, answers.communities.size, answers.clusters.count]).toEqual([0, 0, 0]);
    expect(answers.stats.density).toBe(0);
  });

  test('a single node has all the rank and no relations', () => {
    const graph = new TypedGraph();
    graph.count({ node: node(0), calls: 1, failures: 0, repeats: 0 }, 0);
    const answers = ask(graph, node(0), node(0));
    expect(answers).toMatchObject({ between: 1, top: [], hyperpath: 0, neighbours: [] });
    expect(answers.ranks).toEqual(new Map([[node(0), 1]]));
    expect(answers.communities).toEqual(new Map([[node(0), 0]]));
  });

  test('two separate parts have no path between them and nothing in common', () => {
    const graph = new TypedGraph();
    graph.declare(node(0), node(1), 'sequence');
    graph.declare(node(2), node(3), 'sequence');
    expect(ask(graph, node(0), node(3))).toMatchObject({
      between: 0,
      path: null,
      hyperpath: null,
    });
  });

  test('an unknown node behaves like one without edges', () => {
    const graph = new TypedGraph();
    graph.declare(node(0), node(1), 'sequence');
    for (const answers of [ask(graph, node(8), node(1)), ask(graph, node(1), node(8))]) {
      expect(answers).toMatchObject({ between: 0, path: null, hyperpath: null });
    }
    expect(ask(graph, node(8), node(8))).toMatchObject({ between: 0, top: [], path: null, alpha: 1 });
  });

  test('no answer is ever NaN', () => {
    const single = new TypedGraph();
    single.addNode(node(0));
    const pair = new TypedGraph();
    pair.declare(node(0), node(1), 'alternative');
    for (const graph of [new TypedGraph(), single, pair]) {
      for (const [a, b] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [7, 8],
      ] as const) {
        expect(numbersIn(ask(graph, node(a), node(b)))).not.toContain(Number.NaN);
      }
    }
  });

  test('the graph is counted by kind, type and source', () => {
    const graph = new TypedGraph();
    graph.declare(node(0), node(1), 'sequence');
    graph.observe({ from: node(0), to: node(1), type: 'provides', calls: 1, paths: [] }, 0);
    const { nodes, edges, density } = graphStats(graph);
    expect(nodes).toEqual({ tool: 2, capability: 0, operation: 0 });
    expect(edges.sequence).toEqual({ template: 1, inferred: 0, observed: 0 });
    expect(edges.provides).toEqual({ template: 0, inferred: 1, observed: 0 });
    expect(density).toBe(0.5);
  });
});
