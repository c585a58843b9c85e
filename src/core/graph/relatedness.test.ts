import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { node, randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { weight } from './graph-edge.ts';
import {
  adaptiveAlpha,
  addColdStartScores,
  coldStartEdges,
  diffuseHeat,
  localAlpha,
  relatednessOf,
} from './relatedness.ts';
import { TypedGraph } from './typed-graph.ts';

describe('[GRAPH-21] alpha', () => {
  test.each([
    [0, 0.8],
    [9, 0.8],
    [10, 0.8],
    [30, 0.675],
    [50, 0.55],
    [5_000, 0.55],
  ])('with a context and %d edges seen in runs it is %d', (edges, expected) => {
    expect(adaptiveAlpha(true, edges)).toBeCloseTo(expected, 12);
  });

  test('without a context it is 1', () => {
    expect(adaptiveAlpha(false, 1_000)).toBe(1);
  });

  const seen = (graph: TypedGraph, i: number, j: number, runs: number) => {
    for (let run = 0; run < runs; run++) {
      graph.observe({ from: node(i), to: node(j), type: 'sequence', calls: 1, paths: [] }, 0);
    }
  };

  test('the local alpha is 1 where nothing was observed, and falls to 0.55 with observations nearby', () => {
    const graph = new TypedGraph();
    graph.declare(node(0), node(1), 'sequence');
    seen(graph, 2, 3, 5);
    seen(graph, 4, 5, 100_000);
    const alphaAt = (...context: number[]) => localAlpha(graph.snapshot(), context.map(node));
    expect(alphaAt()).toBe(1);
    expect(alphaAt(0)).toBe(1);
    expect(alphaAt(99)).toBe(1);
    expect(alphaAt(2)).toBeCloseTo(1 - 0.45 * (5 / 15), 12);
    expect(alphaAt(4)).toBeCloseTo(0.55, 3);
    expect(alphaAt(2, 4)).toBeCloseTo((alphaAt(2) + alphaAt(4)) / 2, 12);
  });

  test('heat is conserved, stays at nodes without edges, and is greatest at its start', () => {
    const graph = randomGraph(createRandom(5), 30, 60);
    graph.addNode(node(99));
    const heat = (i: number) => diffuseHeat(graph.snapshot(), [node(i)]);
    expect(heat(0).reduce((sum, warmth) => sum + warmth, 0)).toBeCloseTo(1, 12);
    expect(heat(99)[graph.snapshot().indexOf(node(99))!]).toBeCloseTo(1, 12);
    expect(Math.max(...heat(0))).toBe(heat(0)[graph.snapshot().indexOf(node(0))!]);
  });
});

const [a, b, c, d] = [node(0), node(1), node(2), node(3)];
const hintsOf = () => ({
  sameServer: [a, b, c],
  similar: [
    { node: c, cosine: 0.9 },
    { node: d, cosine: 0.4 },
  ],
});

function scores(graph: TypedGraph, context: readonly NodeId[]): Map<NodeId, number> {
  const found = relatednessOf(graph.snapshot()).toContext(context);
  addColdStartScores(found, graph.snapshot(), context, hintsOf);
  return found;
}

describe('[GRAPH-23] before any run', () => {
  test('similar descriptions and a common server relate tools, but less than any template', () => {
    const edges = coldStartEdges(a, hintsOf());
    expect(edges.map(({ to, reason }) => [to, reason])).toEqual([
      [c, 'description'],
      [b, 'server'],
    ]);
    for (const edge of edges) {
      expect(edge.source).toBe('template');
      expect(edge.weight).toBeLessThan(weight('sequence', 'template'));
    }
    expect([...scores(new TypedGraph(), [a])].map(([id]) => id).sort()).toEqual([b, c]);
  });

  test('the graph outranks such guesses', () => {
    const graph = new TypedGraph();
    graph.declare(a, b, 'sequence');
    expect(scores(graph, [a]).get(b)).toBe(1);
    expect(scores(graph, [a]).get(c)).toBeLessThan(0.2);
  });

  test('once runs have shown a tool with others, its relations are no longer guessed', () => {
    const graph = new TypedGraph();
    graph.observe({ from: a, to: d, type: 'sequence', calls: 1, paths: [] }, 0);
    expect(scores(graph, [a])).toEqual(new Map([[d, 1]]));
    expect(scores(graph, [b]).has(a)).toBe(false);
    expect(scores(graph, [b]).has(c)).toBe(true);
  });
});

/** A direct translation of the formulas, on maps of maps. */
function slowScore(graph: TypedGraph, a: NodeId, b: NodeId): number {
  const around = (of: NodeId) => {
    const weights = new Map<NodeId, number>();
    for (const edge of graph.edges()) {
      if (edge.from !== of && edge.to !== of) continue;
      const other = edge.from === of ? edge.to : edge.from;
      weights.set(other, Math.max(weights.get(other) ?? 0, graph.weightOf(edge)));
    }
    return weights;
  };
  const [nearA, nearB] = [around(a), around(b)];
  if (nearA.has(b)) return 1;
  const common = [...nearA.keys()].filter((z) => nearB.has(z));
  if (nearA.size >= 2 && nearB.size >= 2) {
    const sum = common.reduce(
      (all, z) => all + (nearA.get(z)! + nearB.get(z)!) / 2 / Math.log(around(z).size),
      0,
    );
    return sum / (1 + sum);
  }
  nearA.set(a, 1);
  nearB.set(b, 1);
  const all = [...new Set([...nearA.keys(), ...nearB.keys()])];
  const added = (pick: (...values: number[]) => number) =>
    all.reduce((sum, z) => sum + pick(nearA.get(z) ?? 0, nearB.get(z) ?? 0), 0);
  return added(Math.min) / added(Math.max);
}

const linked = (...pairs: [number, number][]) => {
  const graph = new TypedGraph();
  for (const [i, j] of pairs) {
    for (let run = 0; run < 3; run++) {
      graph.observe({ from: node(i), to: node(j), type: 'sequence', calls: 1, paths: [] }, 0);
    }
  }
  return graph;
};

describe('[GRAPH-12] relatedness', () => {
  test('agrees with the formulas, pairwise, from one node and from a context', () => {
    const random = createRandom(proofSeed());
    for (let proof = 0; proof < proofRuns(300); proof++) {
      const size = 2 + random.int(14);
      const graph = randomGraph(random, size, random.int(40));
      const related = relatednessOf(graph.snapshot());
      const [a, b] = [node(random.int(size)), node(random.int(size))];
      const others = graph.nodes().filter((each) => each !== a);
      const expected = new Map(others.map((each) => [each, slowScore(graph, a, each)]));
      for (const [each, score] of expected) expect(related.between(a, each)).toBeCloseTo(score, 12);
      // Twice, so that leftovers of the first query would show.
      for (let time = 0; time < 2; time++) {
        const found = related.top(a, { limit: size });
        expect(found.length).toBe([...expected.values()].filter((score) => score > 0).length);
        for (const each of found) expect(each.score).toBeCloseTo(expected.get(each.node)!, 12);
        expect(found.map(({ score }) => score)).toEqual(
          found.map(({ score }) => score).sort((x, y) => y - x),
        );
      }
      const toBoth = related.toContext([a, b]);
      for (const each of graph.nodes()) {
        const scores = [a, b].filter((x) => x !== each).map((x) => related.between(x, each));
        expect(toBoth.get(each) ?? 0).toBeCloseTo(Math.max(0, ...scores), 12);
      }
    }
  });

  test('a rare common neighbour counts more than one connected to everything', () => {
    const graph = linked([0, 1], [2, 1], [0, 9], [2, 9], [3, 9], [3, 4], [5, 9], [6, 9], [7, 9]);
    const related = relatednessOf(graph.snapshot());
    expect(related.between(node(0), node(2))).toBeGreaterThan(related.between(node(0), node(3)));
    expect(related.between(node(0), node(3))).toBeGreaterThan(0);
  });

  test('more common neighbours always score more: there is no ceiling', () => {
    const scores = Array.from({ length: 30 }, (_, count) => {
      const pairs = Array.from({ length: count + 2 }, (_, i): [number, number][] => [
        [0, i + 2],
        [1, i + 2],
      ]);
      return relatednessOf(linked(...pairs.flat()).snapshot()).between(node(0), node(1));
    });
    for (const [i, score] of scores.entries()) {
      expect(score).toBeLessThan(1);
      if (i > 0) expect(score).toBeGreaterThan(scores[i - 1]!);
    }
  });

  test('with a single neighbour Jaccard is used, and stays below 1', () => {
    const related = relatednessOf(linked([0, 1], [2, 1]).snapshot());
    expect(related.between(node(0), node(2))).toBeCloseTo(0.5 / 2.5, 12);
    expect(related.between(node(0), node(1))).toBe(1);
  });

  test('the next node replaces one that is not accepted', () => {
    const related = relatednessOf(linked([0, 1], [0, 2], [1, 3], [2, 3]).snapshot());
    const found = related.top(node(0), { limit: 1, accepts: (each) => each === node(3) });
    expect(found.map((each) => each.node)).toEqual([node(3)]);
  });
});
