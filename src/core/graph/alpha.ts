import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** Fewer observed edges: the graph has little to say. */
  sparseEdges: 10,
  sparseAlpha: 0.8,
  /** So many or more: it has much to say. */
  richEdges: 50,
  richAlpha: 0.55,
  /** How long heat flows: the mean number of steps of a unit of heat. */
  time: 1,
  /** Steps after which what is left is below 0.4 % of the heat. */
  steps: 4,
  /** Runs seen on a node's edges at which the graph is trusted half there. */
  halfTrust: 10,
  /** Where the graph is trusted fully. */
  minAlpha: 0.55,
  /** Weight of two tools with the same description; the weakest template edge has 0.25. */
  description: 0.2,
  /** Cosine from which descriptions count as similar. */
  minCosine: 0.5,
  /** Weight of two tools of the same server. */
  server: 0.05,
};

/** `adaptive`: by how many edges runs have shown in all. `local`: by what they have shown around the context. */
export const ALPHA_KINDS = ['adaptive', 'local'] as const;

export type AlphaKind = (typeof ALPHA_KINDS)[number];

/**
 * The share of meaning in `final = alpha x semantic + (1 - alpha) x graph`: all of it without a context
 * the graph could relate to, less the more edges were seen in runs.
 */
export function adaptiveAlpha(hasContext: boolean, nonTemplateEdges: number): number {
  const { sparseEdges, sparseAlpha, richEdges, richAlpha } = DEFAULTS;
  if (!hasContext) return 1;
  const richness = (nonTemplateEdges - sparseEdges) / (richEdges - sparseEdges);
  return sparseAlpha - (sparseAlpha - richAlpha) * Math.min(1, Math.max(0, richness));
}

/**
 * Alpha by what the graph knows around the context, instead of how large it is as a whole: heat put on
 * the context spreads along edges, and the graph is trusted as far as the places it warms were seen in
 * runs. One value per query: an alpha of its own for every candidate would make their scores incomparable.
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
 * a graph", 2007): sum over k of e^-t t^k / k! P^k, cut after a few steps and scaled back to 1. A node
 * without neighbours keeps its heat; without a known node there is none.
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

/** What the catalogue says of a tool before any run does. */
export interface ColdStartHints {
  /** Other tools of its server. */
  readonly sameServer: Iterable<NodeId>;
  /** Tools with the most similar descriptions, with their cosine. */
  readonly similar: Iterable<{ readonly node: NodeId; readonly cosine: number }>;
}

/** Not an edge of the graph: it is guessed from the catalogue, never stored, and weaker than any template. */
export interface ColdStartEdge {
  readonly from: NodeId;
  readonly to: NodeId;
  /** Neither kind says anything about order. */
  readonly type: 'alternative';
  readonly source: 'template';
  readonly reason: 'description' | 'server';
  readonly weight: number;
}

/** Guessed edges of one tool, the strongest to each other tool. */
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
 * Adds guesses to the scores of a context, where the graph itself says nothing. They serve only between
 * tools that no run has shown with others: once there are observations, what was guessed is gone.
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
