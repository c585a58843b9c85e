import { TopK } from '../numeric/top-k.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { Csr, GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** Below this many observed edges, the graph has little evidence. */
  sparseEdges: 10,
  sparseAlpha: 0.8,
  /** From this many observed edges on, the graph has much evidence. */
  richEdges: 50,
  richAlpha: 0.55,
  /** Diffusion time: the mean number of steps of a unit of heat. */
  time: 1,
  /** Steps after which less than 0.4 % of the heat remains. */
  steps: 4,
  /** Number of runs on a node's edges at which the graph is trusted by half there. */
  halfTrust: 10,
  /** Alpha where the graph is trusted fully. */
  minAlpha: 0.55,
  /** Weight between two tools with the same description; the weakest template edge has 0.25. */
  description: 0.2,
  /** Least cosine of similar descriptions. */
  minCosine: 0.42,
  /** Weight between two tools of the same server. */
  server: 0.05,
  /** With fewer neighbours on either side, Adamic-Adar has too little data, and Jaccard is used. */
  minNeighbours: 2,
  limit: 10,
};

/** `adaptive`: by the number of observed edges in the graph. `local`: by the observations around the context. */
export const ALPHA_KINDS = ['adaptive', 'local'] as const;

export type AlphaKind = (typeof ALPHA_KINDS)[number];

/**
 * The share of the text in `final = alpha x semantic + (1 - alpha) x graph`: 1 without a context that the
 * graph could relate to, and less the more edges were observed in runs.
 */
export function adaptiveAlpha(hasContext: boolean, nonTemplateEdges: number): number {
  const { sparseEdges, sparseAlpha, richEdges, richAlpha } = DEFAULTS;
  if (!hasContext) return 1;
  const richness = (nonTemplateEdges - sparseEdges) / (richEdges - sparseEdges);
  return sparseAlpha - (sparseAlpha - richAlpha) * Math.min(1, Math.max(0, richness));
}

/**
 * Alpha by the graph's evidence around the context, instead of the size of the whole graph: heat put on
 * the context spreads along edges, and the graph is trusted as far as the warmed nodes were observed in
 * runs. One value per query: a separate alpha for every candidate would make their scores incomparable.
 */
export function localAlpha(snapshot: GraphSnapshot, context: Iterable<NodeId>): number {
  const heat = diffuseHeat(snapshot, context);
  let trust = 0;
  for (const [node, warmth] of heat.entries()) {
    const runs = snapshot.evidence[node]!;
    trust += (warmth * runs) / (runs + DEFAULTS.halfTrust);
  }
  return 1 - (1 - DEFAULTS.minAlpha) * trust;
}

/**
 * Heat kernel of the random walk on weighted, undirected edges (Chung, "The heat kernel as the pagerank of
 * a graph", 2007): sum over k of e^-t t^k / k! P^k, truncated after a few steps and scaled back to 1. A
 * node without neighbours keeps its heat; without a known node nothing is warm.
 */
export function diffuseHeat(snapshot: GraphSnapshot, from: Iterable<NodeId>): Float64Array {
  const { offsets, columns, values, rows } = snapshot.undirected();
  const sources = [...new Set(from)].flatMap((node) => snapshot.indexOf(node) ?? []);
  let walk = new Float64Array(rows);
  for (const source of sources) walk[source] = 1 / sources.length;
  const heat = walk.slice();
  let [term, total] = [1, 1];
  for (let step = 1; step <= DEFAULTS.steps; step++) {
    const next = new Float64Array(rows);
    for (let node = 0; node < rows; node++) {
      if (walk[node] === 0) continue;
      const [start, end] = [offsets[node]!, offsets[node + 1]!];
      let strength = 0;
      for (let entry = start; entry < end; entry++) strength += values[entry]!;
      if (strength === 0) next[node]! += walk[node]!;
      for (let entry = start; entry < end; entry++) {
        next[columns[entry]!]! += (walk[node]! * values[entry]!) / strength;
      }
    }
    walk = next;
    term *= DEFAULTS.time / step;
    total += term;
    for (let node = 0; node < rows; node++) heat[node]! += term * walk[node]!;
  }
  return heat.map((warmth) => warmth / total);
}

/** What the catalogue says about a tool before any run used it. */
export interface ColdStartHints {
  /** Other tools of its server. */
  readonly sameServer: Iterable<NodeId>;
  /** Tools with the most similar descriptions, with their cosine. */
  readonly similar: Iterable<{ readonly node: NodeId; readonly cosine: number }>;
}

/** Not an edge of the graph: guessed from the catalogue, never stored, and weaker than any template. */
export interface ColdStartEdge {
  readonly from: NodeId;
  readonly to: NodeId;
  /** Neither hint implies an order. */
  readonly type: 'alternative';
  readonly source: 'template';
  readonly reason: 'description' | 'server';
  readonly weight: number;
}

/** Guessed edges of one tool: only the strongest to each other tool. */
export function coldStartEdges(from: NodeId, { sameServer, similar }: ColdStartHints): ColdStartEdge[] {
  const base = { from, type: 'alternative', source: 'template' } as const;
  const edges = new Map<NodeId, ColdStartEdge>();
  for (const to of sameServer) edges.set(to, { ...base, to, reason: 'server', weight: DEFAULTS.server });
  for (const { node: to, cosine } of similar) {
    const likeness = (cosine - DEFAULTS.minCosine) / (1 - DEFAULTS.minCosine);
    const weight = DEFAULTS.description * likeness;
    if (weight > (edges.get(to)?.weight ?? 0)) edges.set(to, { ...base, to, reason: 'description', weight });
  }
  edges.delete(from);
  return [...edges.values()].sort((a, b) => b.weight - a.weight || (a.to < b.to ? -1 : 1));
}

/**
 * Adds guesses to the scores of a context where the graph has no evidence. They only apply between tools
 * that no run has shown with others.
 */
export function addColdStartScores(
  scores: Map<NodeId, number>,
  snapshot: GraphSnapshot,
  context: Iterable<NodeId>,
  hintsOf: (node: NodeId) => ColdStartHints,
): void {
  const isObserved = (node: NodeId) => (snapshot.evidence[snapshot.indexOf(node) ?? -1] ?? 0) > 0;
  const guessed = new Map<NodeId, number>();
  for (const node of context) {
    if (isObserved(node)) continue;
    for (const { to, weight } of coldStartEdges(node, hintsOf(node))) {
      if (!scores.has(to) && !isObserved(to)) guessed.set(to, Math.max(guessed.get(to) ?? 0, weight));
    }
  }
  for (const [node, score] of guessed) scores.set(node, score);
}

export interface RelatedNode {
  readonly node: NodeId;
  /** In (0, 1]; exactly 1 for direct neighbours only. */
  readonly score: number;
}

export interface RelatedOptions {
  readonly limit?: number;
  readonly accepts?: (node: NodeId) => boolean;
}

const made = new WeakMap<GraphSnapshot, Relatedness>();

/** The preparation is linear in the graph, so it is done once per snapshot. */
export function relatednessOf(snapshot: GraphSnapshot): Relatedness {
  const known = made.get(snapshot) ?? new Relatedness(snapshot);
  made.set(snapshot, known);
  return known;
}

/**
 * How closely two nodes are related by their common neighbours: Adamic & Adar, "Friends and neighbors on
 * the Web" (2003), with edge weights as in Lü & Zhou, "Link prediction in weighted networks" (2010):
 *
 *   s(a, b) = sum over common neighbours z of (w(a, z) + w(z, b)) / 2 / ln(degree(z)),   score = s / (1 + s)
 *
 * A common neighbour has at least two neighbours, so the logarithm is positive. s / (1 + s) is strictly
 * increasing and below 1, so that different sums never get the same score.
 *
 * If one of the two has a single neighbour: weighted Jaccard (Ruzicka) of their neighbourhoods, in which
 * each node is its own neighbour with weight 1: sum of min w / sum of max w.
 */
export class Relatedness {
  readonly #snapshot: GraphSnapshot;
  readonly #rows: Csr;
  /** [nodes] Sum of the weights of a node's edges. */
  readonly #strength: Float64Array;
  /** [nodes] 1 / ln(degree). */
  readonly #rarity: Float64Array;
  // Sums of one query; only the touched entries are cleared afterwards.
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

  /** 0 if nothing connects them or one is unknown; 1 for direct neighbours and for a node with itself. */
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

  /** Best first; ties in order of id. */
  top(node: NodeId, { limit = DEFAULTS.limit, accepts }: RelatedOptions = {}): RelatedNode[] {
    const best = new TopK(limit);
    this.#forRelated(node, (other, score) => {
      if (!accepts || accepts(this.#snapshot.nodes[other]!)) best.offer(other, score);
    });
    return best.sorted().map(({ row, score }) => ({ node: this.#snapshot.nodes[row]!, score }));
  }

  /** For each node, its best score with a node of the context; nodes without an entry have 0. */
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
    // Neither the node itself nor its direct neighbours, which were reported already.
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
