import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { node } from '../../../test/support/random-graph.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type Hyperedge, Hyperpaths, type TailCost } from './hyperpaths.ts';

const NODES = 6;
const anyNode = fc.integer({ min: 0, max: NODES - 1 }).map(node);
const anyEdge = (ids: number): fc.Arbitrary<Hyperedge> =>
  fc.record({
    id: fc.integer({ min: 0, max: ids - 1 }).map((i) => `e${i}`),
    tail: fc.array(anyNode, { maxLength: 3 }),
    head: anyNode,
    cost: fc.integer({ min: 1, max: 9 }),
  });
const anyEdges = fc.uniqueArray(anyEdge(20), { maxLength: 9, selector: ({ id }) => id });
const anySources = fc.uniqueArray(anyNode, { maxLength: 2 });
const anyTailCost = fc.constantFrom<TailCost>('sum', 'max');
const proof = { numRuns: proofRuns(1_000), seed: proofSeed() };

/** All derivations: each arc into the node, with each node of its tail derived without the nodes above it. */
function bruteForce(
  edges: readonly Hyperedge[],
  sources: readonly NodeId[],
  tailCost: TailCost,
  to: NodeId,
  above: readonly NodeId[] = [],
): number {
  if (sources.includes(to)) return 0;
  if (above.includes(to)) return Number.POSITIVE_INFINITY;
  const costs = edges
    .filter(({ head }) => head === to)
    .map(({ tail, cost }) => {
      const before = [...new Set(tail)].map((each) =>
        bruteForce(edges, sources, tailCost, each, [...above, to]),
      );
      return (
        cost + (tailCost === 'sum' ? before.reduce((sum, each) => sum + each, 0) : Math.max(0, ...before))
      );
    });
  return Math.min(Number.POSITIVE_INFINITY, ...costs);
}

describe('[GRAPH-17] cheapest B-hyperpath', () => {
  test('costs as much as the cheapest of all derivations', () => {
    fc.assert(
      fc.property(anyEdges, anySources, anyTailCost, (edges, sources, tailCost) => {
        const paths = new Hyperpaths(sources, edges, tailCost);
        for (let i = 0; i < NODES; i++) {
          expect(paths.costOf(node(i))).toBe(bruteForce(edges, sources, tailCost, node(i)));
        }
      }),
      proof,
    );
  });

  test('its arcs can be taken in order, reach the node, and add up to its cost', () => {
    fc.assert(
      fc.property(anyEdges, anySources, anyTailCost, (edges, sources, tailCost) => {
        const paths = new Hyperpaths(sources, edges, tailCost);
        for (let i = 0; i < NODES; i++) {
          const path = paths.pathTo(node(i));
          expect(path === null).toBe(paths.costOf(node(i)) === Number.POSITIVE_INFINITY);
          if (!path) continue;
          const reached = new Set<NodeId>(sources);
          for (const { tail, head } of path.edges) {
            for (const each of tail) expect(reached).toContain(each);
            expect(reached).not.toContain(head);
            reached.add(head);
          }
          expect(reached).toContain(node(i));
          expect(new Hyperpaths(sources, path.edges, tailCost).costOf(node(i))).toBe(path.cost);
        }
      }),
      proof,
    );
  });

  test('AND: a node that needs two is not reached by one', () => {
    const both: Hyperedge = { id: 'both', tail: [node(1), node(2)], head: node(3), cost: 1 };
    expect(new Hyperpaths([node(1)], [both]).pathTo(node(3))).toBeNull();
    expect(new Hyperpaths([node(1), node(2)], [both]).pathTo(node(3))).toEqual({ cost: 1, edges: [both] });
  });

  test('a cost that is not a positive number is rejected, and nothing changes', () => {
    const paths = new Hyperpaths([], [{ id: 'free', tail: [], head: node(1), cost: 2 }]);
    for (const cost of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const good = { id: 'good', tail: [], head: node(2), cost: 1 };
      const bad = { id: 'bad', tail: [], head: node(1), cost };
      expect(() => paths.update([good, bad])).toThrow('"bad"');
    }
    expect([paths.costOf(node(1)), paths.costOf(node(2))]).toEqual([2, Number.POSITIVE_INFINITY]);
  });
});

test('[GRAPH-18] after any changes costs and paths are those computed from scratch', () => {
  const anyChange = fc.record({
    edges: fc.array(anyEdge(8), { maxLength: 3 }),
    removed: fc.array(
      fc.integer({ min: 0, max: 7 }).map((i) => `e${i}`),
      { maxLength: 2 },
    ),
  });
  const changes = fc.array(anyChange, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(changes, anySources, anyTailCost, (steps, sources, tailCost) => {
      const paths = new Hyperpaths(sources, [], tailCost);
      const edges = new Map<string, Hyperedge>();
      for (const step of steps) {
        paths.update(step.edges, step.removed);
        for (const edge of step.edges) edges.set(edge.id, edge);
        for (const id of step.removed) edges.delete(id);
        const scratch = new Hyperpaths(sources, edges.values(), tailCost);
        for (let i = 0; i < NODES; i++) {
          expect(paths.costOf(node(i))).toBe(scratch.costOf(node(i)));
          expect(paths.pathTo(node(i))).toEqual(scratch.pathTo(node(i)));
        }
      }
    }),
    proof,
  );
});
