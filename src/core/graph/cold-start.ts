import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** Weight of two tools with the same description; the weakest template edge has 0.25. */
  description: 0.2,
  /** Cosine from which descriptions count as similar. */
  minCosine: 0.5,
  /** Weight of two tools of the same server. */
  server: 0.05,
};

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
