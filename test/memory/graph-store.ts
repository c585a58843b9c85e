import type { GraphEdge, NodeStatistics } from '../../src/core/graph/graph-edge.ts';
import { compareEdges } from '../../src/core/vocabulary/edge.ts';
import type { EdgeKey, GraphStore, StoredGraph } from '../../src/engine/ports.ts';

/** The stored graph in memory. Nothing is awaited between reading and writing, so each method is atomic. */
export function createMemoryGraphStore(): GraphStore {
  const edges = new Map<string, GraphEdge>();
  const statistics = new Map<string, NodeStatistics>();
  let cursor = 0;
  let generation = 0;

  const put = (graph: StoredGraph) => {
    for (const edge of graph.edges) edges.set(keyOf(edge), structuredClone(edge));
    for (const each of graph.statistics) statistics.set(each.node, structuredClone(each));
    cursor = graph.cursor;
  };

  return {
    read: async () =>
      structuredClone({
        edges: [...edges.values()].sort(compareEdges),
        statistics: [...statistics.values()].sort((a, b) => (a.node < b.node ? -1 : 1)),
        cursor,
      }),
    position: async () => ({ generation, cursor }),
    async apply(step) {
      if (step.from !== cursor || (step.generation ?? generation) !== generation) return false;
      put(step);
      return true;
    },
    async remove(keys) {
      for (const key of keys) edges.delete(keyOf(key));
    },
    async replaceAll(graph) {
      edges.clear();
      statistics.clear();
      put(graph);
      generation += 1;
    },
  };
}

function keyOf({ from, to, type }: EdgeKey): string {
  return JSON.stringify([from, to, type]);
}
