/** An edge among numbered nodes, with how much speaks for it. */
export interface WeightedEdge {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/**
 * Removes the weakest edge inside each strongly connected component (Tarjan, 1972) until none is left
 * with more than one node. Loops of a node with itself go first.
 */
export function breakCycles<E extends WeightedEdge>(size: number, edges: readonly E[]): E[] {
  let left = edges.filter(({ from, to }) => from !== to);
  for (;;) {
    const component = componentsOf(size, left);
    const weakest = new Map<number, E>();
    for (const edge of left) {
      const own = component[edge.from]!;
      if (own !== component[edge.to]) continue;
      const found = weakest.get(own);
      if (!found || edge.weight < found.weight) weakest.set(own, edge);
    }
    if (weakest.size === 0) return left;
    const removed = new Set(weakest.values());
    left = left.filter((edge) => !removed.has(edge));
  }
}

/** The number of each node's strongly connected component; iterative, so that depth costs no stack. */
function componentsOf(size: number, edges: readonly WeightedEdge[]): Int32Array {
  const next = Array.from({ length: size }, (): number[] => []);
  for (const { from, to } of edges) next[from]!.push(to);
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const component = new Int32Array(size).fill(-1);
  const open: number[] = [];
  let [count, components] = [0, 0];
  for (let root = 0; root < size; root++) {
    if (index[root] !== -1) continue;
    const path = [{ node: root, at: 0 }];
    while (path.length > 0) {
      const step = path.at(-1)!;
      const { node } = step;
      if (step.at === 0) {
        index[node] = low[node] = count++;
        open.push(node);
      }
      const to = next[node]![step.at++];
      if (to !== undefined) {
        if (index[to] === -1) path.push({ node: to, at: 0 });
        else if (component[to] === -1) low[node] = Math.min(low[node]!, index[to]!);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) low[above.node] = Math.min(low[above.node]!, low[node]!);
      if (low[node] !== index[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop()!;
        component[member] = components;
      }
      components++;
    }
  }
  return component;
}
