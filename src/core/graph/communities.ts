import { UndirectedGraph } from 'graphology';
import louvainModule from 'graphology-communities-louvain';
import { createRandom } from '../numeric/random.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

// Its types name a default export that, in Node's view of CommonJS, is the module itself.
const louvain = louvainModule as unknown as typeof louvainModule.default;

const DEFAULTS = {
  seed: 1,
  /** Greater: more and smaller communities. */
  resolution: 1,
};

/**
 * Blondel et al., "Fast unfolding of communities in large networks" (2008), by graphology, on the weights
 * between neighbours. Numbered by size, 0 the largest; of equals that with the first id. A node without
 * neighbours is a community of its own.
 */
export function communities(snapshot: GraphSnapshot): Map<NodeId, number> {
  const graph = new UndirectedGraph();
  const { offsets, columns, values, rows } = snapshot.undirected();
  for (let node = 0; node < rows; node++) graph.addNode(node);
  for (let node = 0; node < rows; node++) {
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) {
      const weight = values[entry]!;
      if (columns[entry]! > node) graph.addUndirectedEdge(node, columns[entry]!, { weight });
    }
  }
  const { seed, resolution } = DEFAULTS;
  const labels = graph.size > 0 ? louvain(graph, { rng: createRandom(seed).next, resolution }) : {};
  const groups = Map.groupBy(snapshot.nodes.keys(), (node) => labels[node] ?? `alone ${node}`);
  // Groups come in order of their first node, and sorting keeps the order of equals.
  const bySize = [...groups.values()].sort((a, b) => b.length - a.length);
  return new Map(bySize.flatMap((group, i) => group.map((node) => [snapshot.nodes[node]!, i] as const)));
}
