import type { HistoryView } from './plan-history.ts';
import type { DraftedPlan } from './plan-model.ts';
import { nearestRuns } from './run-votes.ts';

const DEFAULTS = {
  /** Cosine from which a past run is taken for the same work. */
  alike: 0.7,
  /** Node F1 of copies, as measured on three data sets: about this much whatever the cosine, */
  confidence: 0.6,
  /** and from this cosine on toward what is to be expected when the same is asked again. */
  same: 0.95,
  sameConfidence: 1,
};

/** The plan of a past run. */
export interface CopiedPlan extends DraftedPlan {
  /** It was asked for the same, not only for something like it. */
  readonly isSame: boolean;
}

/**
 * The plan of the run whose intent is nearest, as it was: what serves while there are too few runs to
 * learn from. Null where no run is near. `trustIn` tells how far work of a key is trusted to succeed.
 */
export function copyNearestRun(
  view: HistoryView,
  cosines: ArrayLike<number>,
  trustIn: (key: string) => number = () => 1,
): CopiedPlan | null {
  const [nearest] = nearestRuns(cosines, view);
  if (!nearest || nearest.score < DEFAULTS.alike) return null;
  const { uses, edges, key } = view.history.runs[nearest.row]!;
  const confidence = confidenceAt(nearest.score) * trustIn(key);
  const at = new Map(uses.map((place, i) => [place, i]));
  return {
    tools: uses.map((place) => ({ place, chance: confidence })),
    edges: edges.flatMap(([a, b]) => {
      const [from, to] = [at.get(a), at.get(b)];
      return from === undefined || to === undefined ? [] : [{ from, to, weight: confidence }];
    }),
    rest: [],
    confidence,
    isSame: nearest.score >= DEFAULTS.same,
  };
}

function confidenceAt(cosine: number): number {
  const { confidence, same, sameConfidence } = DEFAULTS;
  const share = Math.min(1, Math.max(0, (cosine - same) / (1 - same)));
  return confidence + share * (sameConfidence - confidence);
}
