import type { EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, ORDER_BEARING } from './graph-edge.ts';
import { IndexedHeap } from './indexed-heap.ts';
import type { GraphSnapshot } from './snapshot.ts';

/** One step along an edge: if there are several between two nodes, the one with the greatest weight. */
export interface PathStep {
  readonly edge: GraphEdge;
  readonly weight: number;
  /** 1 / weight */
  readonly cost: number;
}

export interface ShortestPath {
  readonly nodes: readonly NodeId[];
  /** One fewer than nodes. */
  readonly steps: readonly PathStep[];
  /** Total cost of the steps. */
  readonly cost: number;
}

/**
 * Dijkstra (1959) with cost 1 / weight, so that well-observed edges are short. Null if there is no path or a
 * node is unknown; of equally short paths, always the same one.
 */
export function shortestPath(
  snapshot: GraphSnapshot,
  from: NodeId,
  to: NodeId,
  types: readonly EdgeType[] = ORDER_BEARING,
): ShortestPath | null {
  const [source, target] = [snapshot.indexOf(from), snapshot.indexOf(to)];
  if (source === undefined || target === undefined) return null;
  const { offsets, columns, values, origins, rows } = snapshot.directed(types);
  const costs = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const previous = new Int32Array(rows);
  const via = new Int32Array(rows);
  const open = new IndexedHeap(rows);
  costs[source] = 0;
  open.set(source, 0);
  while (open.length > 0) {
    const node = open.pop();
    if (node === target) break;
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) {
      const next = columns[entry]!;
      const cost = costs[node]! + 1 / values[entry]!;
      if (cost >= costs[next]!) continue;
      costs[next] = cost;
      previous[next] = node;
      via[next] = entry;
      open.set(next, cost);
    }
  }
  if (costs[target] === Number.POSITIVE_INFINITY) return null;

  const nodes = [to];
  const steps: PathStep[] = [];
  for (let node = target; node !== source; node = previous[node]!) {
    const weight = values[via[node]!]!;
    steps.push({ edge: snapshot.edges[origins[via[node]!]!]!, weight, cost: 1 / weight });
    nodes.push(snapshot.nodes[previous[node]!]!);
  }
  return { nodes: nodes.reverse(), steps: steps.reverse(), cost: costs[target]! };
}
