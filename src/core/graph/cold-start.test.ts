import { describe, expect, test } from 'vitest';
import { node } from '../../../test/support/random-graph.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { addColdStartScores, coldStartEdges } from './cold-start.ts';
import { relatednessOf } from './relatedness.ts';
import { TypedGraph } from './typed-graph.ts';
import { weight } from './weight.ts';

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
