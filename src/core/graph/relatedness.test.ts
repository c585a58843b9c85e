import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { node, randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { relatednessOf } from './relatedness.ts';
import { TypedGraph } from './typed-graph.ts';

/** Straight from the formulas, on maps of maps. */
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
  test('is what the formulas say, pairwise, from one node and from a context', () => {
    const random = createRandom(proofSeed());
    for (let proof = 0; proof < proofRuns(300); proof++) {
      const size = 2 + random.int(14);
      const graph = randomGraph(random, size, random.int(40));
      const related = relatednessOf(graph.snapshot());
      const [a, b] = [node(random.int(size)), node(random.int(size))];
      const others = graph.nodes().filter((each) => each !== a);
      const expected = new Map(others.map((each) => [each, slowScore(graph, a, each)]));
      for (const [each, score] of expected) expect(related.between(a, each)).toBeCloseTo(score, 12);
      // Twice, so that nothing is left over from the first time.
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

  test('a rare common neighbour says more than one that knows everybody', () => {
    const graph = linked([0, 1], [2, 1], [0, 9], [2, 9], [3, 9], [3, 4], [5, 9], [6, 9], [7, 9]);
    const related = relatednessOf(graph.snapshot());
    expect(related.between(node(0), node(2))).toBeGreaterThan(related.between(node(0), node(3)));
    expect(related.between(node(0), node(3))).toBeGreaterThan(0);
  });

  test('more company always scores more: nothing meets at a ceiling', () => {
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

  test('with a single neighbour Jaccard serves, and stays below 1', () => {
    const related = relatednessOf(linked([0, 1], [2, 1]).snapshot());
    expect(related.between(node(0), node(2))).toBeCloseTo(0.5 / 2.5, 12);
    expect(related.between(node(0), node(1))).toBe(1);
  });

  test('what is not accepted leaves its place to the next', () => {
    const related = relatednessOf(linked([0, 1], [0, 2], [1, 3], [2, 3]).snapshot());
    const found = related.top(node(0), { limit: 1, accepts: (each) => each === node(3) });
    expect(found.map((each) => each.node)).toEqual([node(3)]);
  });
});
