import { DirectedGraph } from 'graphology';
import pagerankModule from 'graphology-metrics/centrality/pagerank.js';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import { pageRank } from './page-rank.ts';

// Its types declare a default export; under Node's handling of CommonJS, that is the module itself.
const pagerank = pagerankModule as unknown as typeof pagerankModule.default;

test('[GRAPH-13] PageRank agrees with an independent implementation, and adds up to 1', () => {
  const random = createRandom(proofSeed());
  for (let proof = 0; proof < proofRuns(200); proof++) {
    const size = 1 + random.int(30);
    const graph = randomGraph(random, size, random.int(80));
    const other = new DirectedGraph();
    for (const each of graph.nodes()) other.addNode(each);
    for (const edge of graph.edges()) {
      other.updateDirectedEdge(edge.from, edge.to, ({ weight = 0 }) => ({
        weight: Math.max(weight, graph.weightOf(edge)),
      }));
    }
    const expected = pagerank(other, { getEdgeWeight: 'weight', maxIterations: 1_000, tolerance: 1e-10 });
    const ranks = pageRank(graph.snapshot());
    for (const [each, rank] of ranks) expect(Math.abs(rank - expected[each]!)).toBeLessThan(1e-5);
    expect([...ranks.values()].reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 9);
  }
});
