import { describe, expect, test } from 'vitest';
import { node } from '../../../test/support/random-graph.ts';
import type { EdgeType } from '../vocabulary/edge.ts';
import { neighbours, relatedNodes, relationOf } from './related-nodes.ts';
import { TypedGraph } from './typed-graph.ts';

const [a, b, c, d] = [node(0), node(1), node(2), node(3)];

function seen(graph: TypedGraph, from: typeof a, to: typeof a, type: EdgeType, runs: number): void {
  for (let run = 0; run < runs; run++) graph.observe({ from, to, type, calls: 2, paths: [] }, 0);
}

describe('[GRAPH-25] neighbours', () => {
  const graph = new TypedGraph();
  seen(graph, a, b, 'sequence', 2);
  seen(graph, b, c, 'sequence', 3);
  seen(graph, b, c, 'provides', 1);
  seen(graph, d, b, 'contains', 5);
  graph.declare(b, a, 'dependency');
  const found = (
    ...args: Parameters<typeof neighbours> extends [unknown, unknown, (infer Options)?] ? [Options] : []
  ) => neighbours(graph, b, ...args).map((each) => each.node);

  test('are listed by direction and type, those with most runs first', () => {
    expect(found({})).toEqual([d, c, a]);
    expect(found({ direction: 'in' })).toEqual([d, a]);
    expect(found({ direction: 'out' })).toEqual([c, a]);
    expect(found({ direction: 'in', types: ['sequence'] })).toEqual([a]);
  });

  test('have their edges, counts and the greatest weight', () => {
    expect(neighbours(graph, b, { direction: 'out' })[0]).toMatchObject({
      node: c,
      runs: 3,
      calls: 6,
      weight: 0.5,
    });
    expect(neighbours(graph, b)[2]).toMatchObject({ node: a, runs: 2, calls: 4, weight: 0.5 });
    expect(neighbours(graph, b, { direction: 'out' })[0]?.edges.map(({ type }) => type)).toEqual([
      'sequence',
      'provides',
    ]);
  });
});

describe('[GRAPH-25] relation', () => {
  test.each([
    [3, 0, 'often_after'],
    [0, 1, 'often_before'],
    [4, 2, 'often_after'],
    [3, 2, 'used_together'],
    [2, 2, 'used_together'],
  ] as const)('seen %d times after and %d times before: %s', (after, before, expected) => {
    const graph = new TypedGraph();
    seen(graph, a, b, 'sequence', after);
    seen(graph, b, a, 'sequence', before);
    // Runs outweigh templates.
    graph.declare(b, a, 'dependency');
    expect(relationOf(graph, a, b)).toBe(expected);
  });

  test('without runs templates decide, and without an order the tools are used together', () => {
    const graph = new TypedGraph();
    expect(relationOf(graph, a, b)).toBe('used_together');
    graph.declare(a, b, 'dependency');
    expect(relationOf(graph, a, b)).toBe('often_after');
    expect(relationOf(graph, b, a)).toBe('often_before');
  });
});

describe('[GRAPH-25] related nodes', () => {
  const graph = new TypedGraph();
  for (let run = 0; run < 8; run++) graph.count({ node: a, calls: 1, failures: 0, repeats: 0 }, 0);
  seen(graph, a, b, 'sequence', 8);
  seen(graph, d, a, 'sequence', 3);
  graph.declare(a, node(4), 'dependency');
  seen(graph, c, b, 'sequence', 3);
  seen(graph, c, d, 'sequence', 3);

  test('are scored by weight and share of runs, each with its relation; indirect ones rank below', () => {
    const found = relatedNodes(graph, a);
    expect(found.map((each) => [each.node, each.relation])).toEqual([
      [b, 'often_after'],
      [d, 'often_before'],
      [c, 'used_together'],
      [node(4), 'often_after'],
    ]);
    expect(found[0]?.score).toBeCloseTo((0.5 * 9) / 10, 12);
    expect(found[1]?.score).toBeCloseTo((0.5 * 4) / 10, 12);
    expect(new Set(found.map(({ score }) => score)).size).toBe(found.length);
  });

  test('are as many as requested, among those accepted', () => {
    expect(relatedNodes(graph, a, { limit: 1 }).map((each) => each.node)).toEqual([b]);
    expect(relatedNodes(graph, a, { accepts: (each) => each === c }).map((each) => each.node)).toEqual([c]);
    expect(relatedNodes(graph, node(77))).toEqual([]);
  });
});
