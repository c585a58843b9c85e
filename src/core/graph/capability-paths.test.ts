import { describe, expect, test } from 'vitest';
import { node } from '../../../test/support/random-graph.ts';
import type { EdgeType } from '../vocabulary/edge.ts';
import { capabilityNode, type NodeId } from '../vocabulary/ids.ts';
import { countCalls, hypergraphPageRank } from './hypergraph.ts';
import { capabilityHyperedges, containedUses, Hyperpaths } from './hyperpaths.ts';
import { TypedGraph } from './typed-graph.ts';

const [a, b, c, d] = [node(0), node(1), node(2), node(3)];
const x = capabilityNode('00000000-0000-4000-8000-00000000000a');
const y = capabilityNode('00000000-0000-4000-8000-00000000000b');
const uses = [{ capability: x, calls: countCalls([a, b, b, c]) }];

function seen(runs: number, type: EdgeType, ...nodes: NodeId[]): TypedGraph {
  const graph = new TypedGraph();
  for (const [i, to] of nodes.slice(1).entries()) {
    for (let run = 0; run < runs; run++) {
      graph.observe({ from: nodes[i]!, to, type, calls: 2, paths: [] }, 0);
    }
  }
  return graph;
}

describe('[GRAPH-19] what follows a capability', () => {
  test('waits for the whole capability, not for its last tool', () => {
    const arcs = capabilityHyperedges(seen(3, 'sequence', x, d).snapshot(), uses);
    expect(new Hyperpaths([a, b], arcs).pathTo(d)).toBeNull();
    expect(new Hyperpaths([c], arcs).pathTo(d)).toBeNull();
    const path = new Hyperpaths([a, b, c], arcs).pathTo(d);
    expect(path?.edges.map(({ id }) => id)).toEqual([x, `${x} -> ${d}`]);
    expect(path?.cost).toBe(1.25 + 2);
  });

  test.each([
    ['sequence', 2, false],
    ['sequence', 3, true],
    ['provides', 1, true],
    ['dependency', 1, true],
  ] as const)('by %s seen in %d runs: %s', (type, runs, isHeld) => {
    const arcs = capabilityHyperedges(seen(runs, type, x, d).snapshot(), uses);
    expect(arcs.some(({ head }) => head === d)).toBe(isHeld);
  });

  test('the nodes a capability uses are those observed in it', () => {
    const graph = seen(3, 'contains', x, a);
    graph.declare(x, b, 'contains');
    expect(containedUses(graph.snapshot())).toEqual([{ capability: x, calls: new Map([[a, 2]]) }]);
  });
});

describe('[GRAPH-16] PageRank of the hypergraph', () => {
  test('a node that more capabilities use ranks higher; ranks add up to 1', () => {
    const { nodes, capabilities } = hypergraphPageRank([
      { capability: x, calls: countCalls([a, b]) },
      { capability: y, calls: countCalls([a, c]) },
    ]);
    expect(nodes.get(a)).toBeGreaterThan(nodes.get(b)!);
    expect(nodes.get(b)).toBeCloseTo(nodes.get(c)!, 12);
    expect([...nodes.values()].reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 9);
    expect([...capabilities.values()].reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 9);
  });

  test('agrees with the random walk computed by hand: two tools of one capability', () => {
    // a in x and y, b in x only: P(a to a) = 1/2 * 1/2 + 1/2 * 1, P(b to a) = 1/2.
    const { nodes } = hypergraphPageRank([
      { capability: x, calls: countCalls([a, b]) },
      { capability: y, calls: countCalls([a]) },
    ]);
    const [toA, fromB] = [0.75, 0.5];
    const rank = (0.075 + 0.85 * fromB) / (1 - 0.85 * (toA - fromB));
    expect(nodes.get(a)).toBeCloseTo(rank, 8);
  });

  test('by frequency a loop counts more, by the logarithm of its calls', () => {
    const loop = [
      {
        capability: x,
        calls: new Map([
          [a, 7],
          [b, 1],
        ] as const),
      },
    ];
    expect(hypergraphPageRank(loop).nodes.get(a)).toBeCloseTo(0.5, 9);
    expect(hypergraphPageRank(loop, 'log_frequency').nodes.get(a)).toBeCloseTo(0.075 + 0.85 * 0.75, 8);
  });
});
