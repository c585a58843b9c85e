import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { capabilityNode, type NodeId, operationId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { GraphStep, Store, StoredGraph } from '../../src/engine/ports.ts';
import { sampleEdge, sampleStatistics } from '../support/samples.ts';

const NOTHING: StoredGraph = { edges: [], statistics: [], cursor: 0 };

const [a, b] = [toolId('graph', 'a'), toolId('graph', 'b')];
const filter = operationId('filter');
const capability = capabilityNode(randomUUID());

export function graphRules(store: () => Store): void {
  const graph = () => store().graph;

  test('[STORE-30] an unknown graph is empty, and begins with the first trace', async () => {
    expect(await graph().read()).toEqual(NOTHING);
  });

  test('[STORE-4] edges of several types between two nodes coexist, and come back exactly', async () => {
    const valuePaths = [
      { fromPath: 'items[0].id', toPath: '["\u0000 \ud800 ü"]', runs: 3 },
      { fromPath: '', toPath: '', runs: 1 },
    ];
    const edges = [
      sampleEdge(capability, a, { type: 'contains', source: 'observed', observedCount: 9 }),
      sampleEdge(filter, a, { lastSeenAt: 0 }),
      sampleEdge(a, filter, { type: 'provides', valuePaths }),
      sampleEdge(a, filter, { source: 'template', observedCount: 0, lastSeenAt: null }),
      sampleEdge(a, capability, { invocationCount: 2_000_000_000 }),
    ];
    await graph().replaceAll({ ...NOTHING, edges });
    const inOrder = [edges[0], edges[1], edges[4], edges[2], edges[3]];
    expect((await graph().read()).edges).toEqual(inOrder);
    const promoted = sampleEdge(a, filter, { source: 'observed', observedCount: 3, valuePaths });
    expect(await graph().apply({ ...NOTHING, edges: [promoted], from: 0 })).toBe(true);
    expect((await graph().read()).edges).toEqual([edges[0], edges[1], edges[4], edges[2], promoted]);
  });

  test('[STORE-31] statistics are stored and replaced per node', async () => {
    const nodes: NodeId[] = [b, toolId('graph', 'B'), filter, toolId('graph', 'ä'), capability];
    const statistics = nodes.map((node, runs) => sampleStatistics(node, { runs }));
    await graph().replaceAll({ ...NOTHING, statistics });
    const inOrder = [statistics[4], statistics[2], statistics[1], statistics[0], statistics[3]];
    expect((await graph().read()).statistics).toEqual(inOrder);
    const newer = sampleStatistics(b, { calls: 7, failures: 2, repeats: 4, repeatRuns: 2, lastSeenAt: null });
    await graph().apply({ ...NOTHING, statistics: [newer], from: 0 });
    expect((await graph().read()).statistics[3]).toEqual(newer);
  });

  test('[STORE-5] replacing the graph leaves nothing of the old one', async () => {
    const old = { edges: [sampleEdge(a, b)], statistics: [sampleStatistics(a)], cursor: 3 };
    await graph().replaceAll(old);
    const [c, d] = [toolId('new', 'c'), capability];
    const only = { edges: [sampleEdge(c, d)], statistics: [sampleStatistics(d)], cursor: 4 };
    await graph().replaceAll(only);
    expect(await graph().read()).toEqual(only);
  });

  test('[STORE-32] edges are removed by from, to and type', async () => {
    const edges = [sampleEdge(a, b), sampleEdge(a, b, { type: 'provides' }), sampleEdge(capability, b)];
    const before = { edges, statistics: [sampleStatistics(a)], cursor: 5 };
    await graph().replaceAll(before);
    await graph().remove([]);
    await graph().remove([{ from: b, to: a, type: 'sequence' }]);
    await graph().remove([edges[0]!, edges[2]!, edges[0]!]);
    expect(await graph().read()).toEqual({ ...before, edges: [edges[1]] });
  });

  test('[STORE-33] a step is applied once, whoever tries, and only from the current state of the graph', async () => {
    const start = { ...NOTHING, cursor: 10 };
    await graph().replaceAll(start);
    const step = (from: number, cursor: number, runs: number): GraphStep => ({
      edges: [sampleEdge(a, b, { observedCount: runs })],
      statistics: [sampleStatistics(a, { runs })],
      from,
      cursor,
    });
    for (const from of [0, 9, 11]) expect(await graph().apply(step(from, 12, 1))).toBe(false);
    expect(await graph().read()).toEqual(start);

    for (let cursor = 10; cursor < 20; cursor++) {
      const tries = await Promise.all(
        [1, 2, 3, 4].map((runs) => graph().apply(step(cursor, cursor + 1, runs))),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
      const { from: _, ...winner } = step(cursor, cursor + 1, 1 + tries.indexOf(true));
      expect(await graph().read()).toEqual(winner);
    }
  });

  test('[STORE-34] a reader sees a consistent graph while others write', async () => {
    /** Every part of it shows which one it is. */
    const numbered = (n: number): StoredGraph => ({
      edges: Array.from({ length: 40 }, (_, i) =>
        sampleEdge(i % 2 ? a : capability, toolId('graph', `n${i}`), { observedCount: n }),
      ),
      statistics: [a, b].map((node) => sampleStatistics(node, { runs: n })),
      cursor: n,
    });
    await graph().replaceAll(numbered(0));
    let isWriting = true;
    const write = async () => {
      for (let n = 1; n <= 20; n++) {
        if (n % 2) await graph().replaceAll(numbered(n));
        else await graph().apply({ ...numbered(n), from: n - 1 });
      }
      isWriting = false;
    };
    const read = async () => {
      while (isWriting) {
        const { edges, statistics, cursor } = await graph().read();
        expect(edges).toHaveLength(40);
        expect(new Set([...edges.map((e) => e.observedCount), ...statistics.map((s) => s.runs)])).toEqual(
          new Set([cursor]),
        );
      }
    };
    await Promise.all([write(), read(), read()]);
    expect(await graph().read()).toMatchObject({ cursor: 20 });
  });

  test('[STORE-35] ids that a database cannot represent are stored in another form, and block nothing', async () => {
    const odd = ['x\u0000', 'x\u2400', '\ud800', '\ud801'].map((name) => toolId('odd', name));
    const edges = odd.map((from) => sampleEdge(from, b));
    const statistics = odd.map((node) => sampleStatistics(node));
    await graph().replaceAll({ edges, statistics, cursor: 1 });
    expect(await graph().apply({ edges, statistics, from: 1, cursor: 2 })).toBe(true);
    await graph().remove(edges);
    expect(await graph().read()).toMatchObject({ edges: [], cursor: 2 });
    await graph().replaceAll(NOTHING);
  });

  test('[STORE-36] a graph of thousands of edges is stored at once', async () => {
    const nodes = Array.from({ length: 1200 }, (_, i) => toolId('many', String(10_000 + i)));
    const hops = nodes.slice(1).map((to, i) => sampleEdge(nodes[i]!, to));
    const edges = [...hops.map(({ to }) => sampleEdge(capability, to)), ...hops];
    const graphOfMany = { edges, statistics: nodes.map((node) => sampleStatistics(node)), cursor: 1 };
    await graph().replaceAll(graphOfMany);
    expect(await graph().read()).toEqual(graphOfMany);
    await graph().remove(edges);
    expect(await graph().read()).toEqual({ ...graphOfMany, edges: [] });
  });
}
