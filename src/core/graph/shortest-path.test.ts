import { MultiDirectedGraph } from 'graphology';
import dijkstra from 'graphology-shortest-path/dijkstra.js';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { node, randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import { toolId } from '../vocabulary/ids.ts';
import { ORDER_BEARING } from './graph-edge.ts';
import { shortestPath } from './hyperpaths.ts';
import { TypedGraph } from './typed-graph.ts';

describe('[GRAPH-11] shortest path', () => {
  test('is as short as that of an independent implementation, and its steps are edges of the graph', () => {
    const random = createRandom(proofSeed());
    for (let proof = 0; proof < proofRuns(500); proof++) {
      const size = 2 + random.int(20);
      const graph = randomGraph(random, size, random.int(60));
      const other = new MultiDirectedGraph();
      for (const each of graph.nodes()) other.addNode(each);
      for (const edge of graph.edges()) {
        if (ORDER_BEARING.includes(edge.type)) {
          other.addDirectedEdge(edge.from, edge.to, { weight: 1 / graph.weightOf(edge) });
        }
      }
      const [from, to] = [node(random.int(size)), node(random.int(size))];
      const path = shortestPath(graph.snapshot(), from, to);
      const expected = dijkstra.bidirectional(other, from, to) as string[] | null;
      expect(path === null).toBe(expected === null);
      if (!path || !expected) continue;
      const cost = expected.slice(1).reduce((sum, next, i) => {
        const parallel = other.mapOutEdges(expected[i]!, next, (_, { weight }) => weight as number);
        return sum + Math.min(...parallel);
      }, 0);
      expect(path.cost).toBeCloseTo(cost, 9);
      expect(path.nodes.at(0)).toBe(from);
      expect(path.nodes.at(-1)).toBe(to);
      for (const [i, step] of path.steps.entries()) {
        expect(step.edge).toMatchObject({ from: path.nodes[i], to: path.nodes[i + 1] });
        expect(graph.edge(step.edge.from, step.edge.to, step.edge.type)).toBe(step.edge);
        expect(step.weight).toBe(graph.weightOf(step.edge));
      }
      expect(path.steps.reduce((sum, step) => sum + step.cost, 0)).toBeCloseTo(path.cost, 9);
    }
  });

  const [a, b, c] = [toolId('s', 'a'), toolId('s', 'b'), toolId('s', 'c')];
  const seen = (
    graph: TypedGraph,
    from: typeof a,
    to: typeof a,
    type: 'sequence' | 'contains',
    runs: number,
  ) => {
    for (let run = 0; run < runs; run++) graph.observe({ from, to, type, calls: 1, paths: [] }, 0);
  };

  test('two observed steps beat one that is only a template; `contains` is not a path', () => {
    const graph = new TypedGraph();
    graph.declare(a, c, 'sequence');
    graph.declare(a, b, 'dependency');
    seen(graph, b, c, 'sequence', 3);
    expect(shortestPath(graph.snapshot(), a, c)).toMatchObject({ nodes: [a, c], cost: 4 });
    seen(graph, a, b, 'sequence', 3);
    for (let run = 0; run < 3; run++) {
      graph.observe({ from: a, to: b, type: 'dependency', calls: 1, paths: [] }, 0);
    }
    const path = shortestPath(graph.snapshot(), a, c);
    expect(path).toMatchObject({ nodes: [a, b, c], cost: 3 });
    expect(path?.steps.map(({ edge }) => edge.type)).toEqual(['dependency', 'sequence']);

    const contained = new TypedGraph();
    seen(contained, a, b, 'contains', 3);
    expect(shortestPath(contained.snapshot(), a, b)).toBeNull();
    expect(shortestPath(contained.snapshot(), a, b, ['contains'])).toMatchObject({ cost: 1.25 });
  });

  test('a path from a node to itself has no steps', () => {
    const graph = new TypedGraph();
    graph.addNode(a);
    expect(shortestPath(graph.snapshot(), a, a)).toEqual({ nodes: [a], steps: [], cost: 0 });
  });
});
