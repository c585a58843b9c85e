import { describe, expect, test } from 'vitest';
import { node, randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { adaptiveAlpha, addColdStartScores, coldStartEdges, diffuseHeat, localAlpha } from './alpha.ts';
import { weight } from './graph-edge.ts';
import { relatednessOf } from './relatedness.ts';
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

  test('the local one is 1 where nothing was seen, and falls to 0.55 with what was seen nearby', () => {
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

  test('heat is neither made nor lost, stays where no way leads out, and is warmest at home', () => {
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
  test('like descriptions and one server relate tools, weaker than any template', () => {
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

  test('what the graph says stands above what is guessed', () => {
    const graph = new TypedGraph();
    graph.declare(a, b, 'sequence');
    expect(scores(graph, [a]).get(b)).toBe(1);
    expect(scores(graph, [a]).get(c)).toBeLessThan(0.2);
  });

  test('once runs have shown a tool with others, nothing is guessed of it any more', () => {
    const graph = new TypedGraph();
    graph.observe({ from: a, to: d, type: 'sequence', calls: 1, paths: [] }, 0);
    expect(scores(graph, [a])).toEqual(new Map([[d, 1]]));
    expect(scores(graph, [b]).has(a)).toBe(false);
    expect(scores(graph, [b]).has(c)).toBe(true);
  });
});
