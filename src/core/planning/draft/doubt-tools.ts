import { dot } from '../../numeric/vectors.ts';
import type { PlanHistory } from './plan-history.ts';
import type { DraftedPlan } from './plan-model.ts';
import { bestSize } from './plan-model.ts';

const DEFAULTS = {
  /** Cosine from which another intent says something of this one; it says all at 1. */
  alike: 0.7,
};

/** Tools that somebody took out of a plan suggested for an intent. */
export interface Removal {
  readonly intent: Float32Array;
  /** By place among the candidates. */
  readonly places: ReadonlySet<number>;
}

/**
 * Tools that were taken out of plans for intents like this are less likely: their chance is multiplied by
 * (1 + uses) / (1 + uses + removals), each counted as far as its intent is alike (Laplace's rule of succession, with
 * the one for granted that the tool is right). The set of greatest expected F1 stays; one that nobody doubted is as
 * it was.
 */
export function doubtTools(
  drafted: DraftedPlan,
  intent: Float32Array,
  history: PlanHistory,
  removals: readonly Removal[],
): DraftedPlan {
  const near = removals
    .map(({ intent: other, places }) => ({ places, weight: likeness(dot(intent, other)) }))
    .filter(({ weight }) => weight > 0);
  const removed = (place: number) =>
    near.reduce((sum, { places, weight }) => sum + (places.has(place) ? weight : 0), 0);
  if (!drafted.tools.some(({ place }) => removed(place) > 0)) return drafted;

  const cosines = history.cosines(intent);
  const trust = new Map(
    drafted.tools.map(({ place }) => {
      const uses = history.runsOf[place]!.reduce((sum, run) => sum + likeness(cosines[run]!), 0);
      return [place, (1 + uses) / (1 + uses + removed(place))];
    }),
  );
  const doubted = drafted.tools.map((tool) => ({ ...tool, chance: tool.chance * trust.get(tool.place)! }));
  const byPlace = [...new Map(doubted.map((tool) => [tool.place, tool])).values()];
  const sorted = byPlace.toSorted((a, b) => b.chance - a.chance);
  const { size } = bestSize(sorted.map(({ chance }) => chance));
  const stays = new Set(sorted.slice(0, size).map(({ place }) => place));
  const kept = [...doubted.keys()].filter((i) => stays.has(doubted[i]!.place));
  const at = new Map(kept.map((i, place) => [i, place]));
  const meanTrust = [...stays].reduce((sum, place) => sum + trust.get(place)!, 0) / stays.size;
  return {
    tools: kept.map((i) => doubted[i]!),
    edges: drafted.edges.flatMap(({ from, to, weight }) => {
      const [a, b] = [at.get(from), at.get(to)];
      return a === undefined || b === undefined ? [] : [{ from: a, to: b, weight }];
    }),
    rest: [...sorted.slice(size), ...drafted.rest],
    confidence: drafted.confidence * meanTrust,
  };
}

function likeness(cosine: number): number {
  return Math.min(1, Math.max(0, (cosine - DEFAULTS.alike) / (1 - DEFAULTS.alike)));
}
