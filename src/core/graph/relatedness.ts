import { TopK } from '../numeric/top-k.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { Csr, GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** With fewer neighbours on either side Adamic-Adar has too little to go by, and Jaccard serves. */
  minNeighbours: 2,
  limit: 10,
};

export interface RelatedNode {
  readonly node: NodeId;
  /** In (0, 1]; 1 for direct neighbours, and for them only. */
  readonly score: number;
}

export interface RelatedOptions {
  readonly limit?: number;
  readonly accepts?: (node: NodeId) => boolean;
}

const made = new WeakMap<GraphSnapshot, Relatedness>();

/** What it prepares is linear in the graph, so it is done once per snapshot. */
export function relatednessOf(snapshot: GraphSnapshot): Relatedness {
  const known = made.get(snapshot) ?? new Relatedness(snapshot);
  made.set(snapshot, known);
  return known;
}

/**
 * How much two nodes belong together, by the company they keep: Adamic & Adar, "Friends and neighbors on
 * the Web" (2003), with edge weights as in Lü & Zhou, "Link prediction in weighted networks" (2010):
 *
 *   s(a, b) = sum over common neighbours z of (w(a, z) + w(z, b)) / 2 / ln(degree(z)),   score = s / (1 + s)
 *
 * A common neighbour has two neighbours at least, so the logarithm is positive. s / (1 + s) grows with s
 * everywhere and stays below 1, so that no two sums meet at a ceiling.
 *
 * Where one of the two has a single neighbour, weighted Jaccard (Ruzicka) of their neighbourhoods, each
 * node counted to its own with weight 1: sum of min w / sum of max w.
 */
export class Relatedness {
  readonly #snapshot: GraphSnapshot;
  readonly #rows: Csr;
  /** [nodes] Weights of a node's edges, added up. */
  readonly #strength: Float64Array;
  /** [nodes] 1 / ln(degree). */
  readonly #rarity: Float64Array;
  // What one query adds up; only what it touched is cleared after it.
  readonly #sums: Float64Array;
  readonly #shared: Float64Array;
  readonly #touched: Int32Array;

  constructor(snapshot: GraphSnapshot) {
    const rows = snapshot.undirected();
    this.#snapshot = snapshot;
    this.#rows = rows;
    this.#strength = new Float64Array(rows.rows);
    this.#rarity = new Float64Array(rows.rows);
    for (let node = 0; node < rows.rows; node++) {
      for (let entry = rows.offsets[node]!; entry < rows.offsets[node + 1]!; entry++) {
        this.#strength[node]! += rows.values[entry]!;
      }
      const degree = this.#degree(node);
      this.#rarity[node] = degree >= 2 ? 1 / Math.log(degree) : 0;
    }
    this.#sums = new Float64Array(rows.rows);
    this.#shared = new Float64Array(rows.rows);
    this.#touched = new Int32Array(rows.rows);
  }

  /** 0 when nothing connects them or one is unknown; 1 for direct neighbours and for a node with itself. */
  between(a: NodeId, b: NodeId): number {
    const [i, j] = [this.#snapshot.indexOf(a), this.#snapshot.indexOf(b)];
    if (i === undefined || j === undefined) return 0;
    if (i === j) return 1;
    const { offsets, columns, values } = this.#rows;
    let [sum, shared] = [0, 0];
    let [p, q] = [offsets[i]!, offsets[j]!];
    while (p < offsets[i + 1]! && q < offsets[j + 1]!) {
      const [x, y] = [columns[p]!, columns[q]!];
      if (x === y) {
        sum += ((values[p]! + values[q]!) / 2) * this.#rarity[x]!;
        shared += Math.min(values[p]!, values[q]!);
      }
      if (x <= y) p++;
      if (y <= x) q++;
    }
    return this.#isNeighbour(i, j) ? 1 : this.#score(i, j, sum, shared);
  }

  /** Best first; of equals in order of id. */
  top(node: NodeId, { limit = DEFAULTS.limit, accepts }: RelatedOptions = {}): RelatedNode[] {
    const best = new TopK(limit);
    this.#forRelated(node, (other, score) => {
      if (!accepts || accepts(this.#snapshot.nodes[other]!)) best.offer(other, score);
    });
    return best.sorted().map(({ row, score }) => ({ node: this.#snapshot.nodes[row]!, score }));
  }

  /** Of every node related to some of the context the score with the nearest of it; the rest have 0. */
  toContext(context: Iterable<NodeId>): Map<NodeId, number> {
    const scores = new Map<NodeId, number>();
    for (const node of new Set(context)) {
      this.#forRelated(node, (other, score) => {
        const id = this.#snapshot.nodes[other]!;
        if (score > (scores.get(id) ?? 0)) scores.set(id, score);
      });
    }
    return scores;
  }

  #forRelated(node: NodeId, visit: (other: number, score: number) => void): void {
    const at = this.#snapshot.indexOf(node);
    if (at === undefined) return;
    const { offsets, columns, values } = this.#rows;
    const [sums, shared, touched] = [this.#sums, this.#shared, this.#touched];
    let count = 0;
    for (let near = offsets[at]!; near < offsets[at + 1]!; near++) {
      const via = columns[near]!;
      const weight = values[near]!;
      const rarity = this.#rarity[via]!;
      visit(via, 1);
      for (let far = offsets[via]!; far < offsets[via + 1]!; far++) {
        const other = columns[far]!;
        if (shared[other] === 0) touched[count++] = other;
        sums[other]! += ((weight + values[far]!) / 2) * rarity;
        shared[other]! += Math.min(weight, values[far]!);
      }
    }
    // Neither itself nor its direct neighbours, which were told.
    shared[at] = 0;
    for (let near = offsets[at]!; near < offsets[at + 1]!; near++) shared[columns[near]!] = 0;
    for (let i = 0; i < count; i++) {
      const other = touched[i]!;
      if (shared[other]! > 0) visit(other, this.#score(at, other, sums[other]!, shared[other]!));
      sums[other] = 0;
      shared[other] = 0;
    }
  }

  #score(a: number, b: number, sum: number, shared: number): number {
    if (Math.min(this.#degree(a), this.#degree(b)) >= DEFAULTS.minNeighbours) return sum / (1 + sum);
    return shared / (this.#strength[a]! + this.#strength[b]! - shared + 2);
  }

  #degree(node: number): number {
    return this.#rows.offsets[node + 1]! - this.#rows.offsets[node]!;
  }

  #isNeighbour(a: number, b: number): boolean {
    const { offsets, columns } = this.#rows;
    return columns.subarray(offsets[a], offsets[a + 1]).includes(b);
  }
}
