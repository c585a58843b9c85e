import { describe, expect, test } from 'vitest';
import { node, randomGraph } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import { capabilityNode } from '../vocabulary/ids.ts';
import { communities, spectralClusters } from './clusters.ts';
import { type CapabilityUse, countCalls } from './hypergraph.ts';
import { TypedGraph } from './typed-graph.ts';

const capability = (i: number) => capabilityNode(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);

/** Capabilities that each use four tools of one group of ten; every tenth use is from a random group. */
function plantedUses(groups: number, perGroup: number): CapabilityUse[] {
  const random = createRandom(7);
  return Array.from({ length: groups * perGroup }, (_, i) => {
    const group = i % groups;
    const used = Array.from({ length: 4 }, () =>
      node(10 * (random.next() < 0.1 ? random.int(groups) : group) + random.int(10)),
    );
    return { capability: capability(i), calls: countCalls(used) };
  });
}

describe('[GRAPH-15] spectral clusters', () => {
  test.each([
    ['few capabilities, all eigenvalues', 3, 12],
    ['many capabilities, the leading ones', 5, 30],
  ])('planted groups come back, capabilities with their tools: %s', (_, groups, perGroup) => {
    const uses = plantedUses(groups, perGroup);
    const { count, of, singularValues } = spectralClusters(uses);
    expect(count).toBe(groups);
    expect(singularValues[0]).toBeCloseTo(1, 6);
    const clusterOfGroup = Array.from({ length: groups }, (_, group) => of.get(uses[group]!.capability));
    expect(new Set(clusterOfGroup).size).toBe(groups);
    const right = uses.filter((use, i) => of.get(use.capability) === clusterOfGroup[i % groups]);
    expect(right.length / uses.length).toBeGreaterThan(0.95);
    const tools = [...of.keys()].filter((id) => id.startsWith('s:'));
    const rightTools = tools.filter(
      (id) => of.get(id) === clusterOfGroup[Math.floor(Number(id.slice('s:t'.length)) / 10)],
    );
    expect(rightTools.length / tools.length).toBeGreaterThan(0.95);
  });

  test('separate groups are separated exactly, and the order of capabilities does not matter', () => {
    const uses = [0, 1, 2, 3, 4, 5].map((i) => ({
      capability: capability(i),
      calls: countCalls([node(10 * (i % 3)), node(10 * (i % 3) + 1)]),
    }));
    const { count, of } = spectralClusters(uses);
    expect(count).toBe(3);
    for (const { capability, calls } of uses) {
      for (const tool of calls.keys()) expect(of.get(tool)).toBe(of.get(capability));
    }
    expect(spectralClusters(uses.toReversed()).of).toEqual(of);
  });

  test('capabilities that all use the same tools are one cluster, and so are two that share one', () => {
    const alike = [0, 1, 2, 3].map((i) => ({
      capability: capability(i),
      calls: countCalls([node(0), node(1)]),
    }));
    expect(spectralClusters(alike).count).toBe(1);
    const sharing = [0, 1].map((i) => ({
      capability: capability(i),
      calls: countCalls([node(i), node(i + 1)]),
    }));
    expect(spectralClusters(sharing).count).toBe(1);
  });

  test('a loop of a hundred calls counts 1 uniformly and less than 7 by frequency', () => {
    const uses = [{ capability: capability(0), calls: new Map([[node(0), 100]]) }];
    for (const weights of ['uniform', 'log_frequency'] as const) {
      expect(spectralClusters(uses, { weights })).toMatchObject({ count: 1, singularValues: [1] });
    }
  });
});

describe('[GRAPH-14] communities', () => {
  test('two cliques with one bridge are two, the larger first; a node alone is its own', () => {
    const graph = new TypedGraph();
    const clique = (members: readonly number[]) => {
      for (const i of members)
        for (const j of members) if (i < j) graph.declare(node(i), node(j), 'sequence');
    };
    clique([0, 1, 2, 3]);
    clique([4, 5, 6, 7, 8]);
    graph.declare(node(0), node(4), 'sequence');
    graph.addNode(node(9));
    const found = communities(graph.snapshot());
    expect([4, 5, 6, 7, 8].map((i) => found.get(node(i)))).toEqual([0, 0, 0, 0, 0]);
    expect([0, 1, 2, 3].map((i) => found.get(node(i)))).toEqual([1, 1, 1, 1]);
    expect(found.get(node(9))).toBe(2);
  });

  test('the order in which edges came does not matter', () => {
    const graph = randomGraph(createRandom(3), 60, 150);
    const again = new TypedGraph(graph.edges().toReversed(), graph.statistics());
    for (const each of graph.nodes().toReversed()) again.addNode(each);
    expect(communities(again.snapshot())).toEqual(communities(graph.snapshot()));
  });
});
