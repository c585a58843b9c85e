import { breakCycles, type WeightedEdge } from '../suggest/plan-sketch.ts';

const DEFAULTS = {
  /** Chance from which an edge that would close a cycle means that its tool is used again. */
  again: 0.5,
  /** Up to so many tools the best path is found exactly, by dynamic programming over subsets. */
  exact: 12,
};

/** How runs are ordered: one after another, or as their needs say. */
export type OrderForm = 'chain' | 'graph';

export interface SetOrder {
  /** Acyclic. */
  readonly edges: readonly WeightedEdge[];
  /** Edges that would have closed a cycle, though they are likely: `to` runs once more after `from`. */
  readonly again: readonly WeightedEdge[];
}

/**
 * Edges among n chosen tools, from the chance of each [n x n]: those with the greatest expected F1 together,
 * of the best path through all of them (`chain`) or of any that leave no cycle (`graph`).
 */
export function orderSet(chances: ArrayLike<number>, n: number, form: OrderForm): SetOrder {
  if (n < 2) return { edges: [], again: [] };
  let total = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) total += chances[i * n + j]!;
  const offered = form === 'chain' ? pathEdges(bestPath(chances, n), chances, n) : allEdges(chances, n);
  offered.sort((a, b) => b.weight - a.weight || a.from - b.from || a.to - b.to);
  let best = { size: 0, value: 0 };
  let sum = 0;
  for (const [i, { weight }] of offered.entries()) {
    sum += weight;
    const value = (2 * sum) / (i + 1 + total);
    if (value > best.value) best = { size: i + 1, value };
  }
  const chosen = offered.slice(0, best.size);
  const edges = breakCycles(n, chosen);
  const again = chosen.filter((edge) => edge.weight >= DEFAULTS.again && !edges.includes(edge));
  return { edges, again };
}

function allEdges(chances: ArrayLike<number>, n: number): WeightedEdge[] {
  const edges: WeightedEdge[] = [];
  for (let from = 0; from < n; from++) {
    for (let to = 0; to < n; to++) if (from !== to) edges.push({ from, to, weight: chances[from * n + to]! });
  }
  return edges;
}

function pathEdges(path: readonly number[], chances: ArrayLike<number>, n: number): WeightedEdge[] {
  return path.slice(1).map((to, i) => {
    const from = path[i]!;
    return { from, to, weight: chances[from * n + to]! };
  });
}

/** The order of all n with the greatest sum of chances from each to the next. */
function bestPath(chances: ArrayLike<number>, n: number): number[] {
  return n <= DEFAULTS.exact ? exactPath(chances, n) : greedyPath(chances, n);
}

/** Held & Karp, 1962. */
function exactPath(chances: ArrayLike<number>, n: number): number[] {
  const full = 1 << n;
  const values = new Float64Array(full * n).fill(Number.NEGATIVE_INFINITY);
  const previous = new Int8Array(full * n).fill(-1);
  for (let i = 0; i < n; i++) values[(1 << i) * n + i] = 0;
  for (let seen = 1; seen < full; seen++) {
    for (let last = 0; last < n; last++) {
      const value = values[seen * n + last]!;
      if (value === Number.NEGATIVE_INFINITY) continue;
      for (let next = 0; next < n; next++) {
        if (seen & (1 << next)) continue;
        const at = (seen | (1 << next)) * n + next;
        const longer = value + chances[last * n + next]!;
        if (longer > values[at]!) {
          values[at] = longer;
          previous[at] = last;
        }
      }
    }
  }
  let last = 0;
  for (let i = 1; i < n; i++) if (values[(full - 1) * n + i]! > values[(full - 1) * n + last]!) last = i;
  const path: number[] = [];
  for (let seen = full - 1; last >= 0; ) {
    path.push(last);
    const before = previous[seen * n + last]!;
    seen &= ~(1 << last);
    last = before;
  }
  return path.reverse();
}

/** The likeliest edges first, as long as they join ends of different pieces. */
function greedyPath(chances: ArrayLike<number>, n: number): number[] {
  const pieceOf = Array.from({ length: n }, (_, i) => [i]);
  const edges = allEdges(chances, n).sort((a, b) => b.weight - a.weight);
  for (const { from, to } of edges) {
    const [head, tail] = [pieceOf[from]!, pieceOf[to]!];
    if (head === tail || head.at(-1) !== from || tail[0] !== to) continue;
    head.push(...tail);
    for (const node of tail) pieceOf[node] = head;
  }
  return pieceOf[0]!;
}
