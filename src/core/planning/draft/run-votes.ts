import { type HistoryView, nearestRuns } from './plan-history.ts';

const DEFAULTS = {
  /** The nearest past runs are asked by intent alone, each by this power of its cosine. */
  power: 4,
  /** How sharply past runs are told apart: by intent, by how well their tools fit, by both. */
  sharpIntent: 30,
  sharpFit: 12,
  sharpBoth: 20,
};

/** Shares of the past runs that used a candidate, each run weighted in one of four ways. */
export interface Votes {
  near: number;
  sharp: number;
  fit: number;
  both: number;
}

export interface RunVotes {
  readonly votes: ReadonlyMap<number, Readonly<Votes>>;
  /** What the three nearest runs used. */
  readonly nearest: readonly ReadonlySet<number>[];
  /** Of the nearest run. */
  readonly cosine: number;
  /** What the run used that is nearest and fits best, and how well it fits: the F1 to be expected of it. */
  readonly bestFit: ReadonlySet<number>;
  readonly fit: number;
  /** How many tools the nearest runs used, and how many are to be expected by the guesses. */
  readonly size: number;
  readonly guessedSize: number;
}

/** Asks past runs which of some places they used; a run fits by the guesses of the places it used. */
export function runVotes(
  places: readonly number[],
  guesses: readonly number[],
  cosines: ArrayLike<number>,
  view: HistoryView,
): RunVotes {
  const { runs } = view.history;
  const guessAt = new Map(places.map((place, i) => [place, guesses[i]!]));
  const guessedSize = guesses.reduce((sum, guess) => sum + guess, 0);
  const votes = new Map(
    places.map((place): [number, Votes] => [place, { near: 0, sharp: 0, fit: 0, both: 0 }]),
  );
  const totals: Votes = { near: 0, sharp: 0, fit: 0, both: 0 };
  const nearest = nearestRuns(cosines, view);
  const cosine = nearest[0]?.score ?? 0;

  let size = 0;
  for (const { row, score } of nearest) {
    const weight = Math.max(0, score) ** DEFAULTS.power;
    totals.near += weight;
    size += weight * runs[row]!.uses.length;
    for (const place of runs[row]!.uses) {
      const vote = votes.get(place);
      if (vote) vote.near += weight;
    }
  }
  let best = { run: -1, merit: Number.NEGATIVE_INFINITY, fit: 0 };
  for (let i = 0; i < runs.length; i++) {
    if (view.isHidden(i)) continue;
    const { uses } = runs[i]!;
    let likely = 0;
    for (const place of uses) likely += guessAt.get(place) ?? 0;
    const fit = (2 * likely) / (uses.length + guessedSize);
    const behind = cosines[i]! - cosine;
    const sharp = Math.exp(DEFAULTS.sharpIntent * behind);
    const byFit = Math.exp(DEFAULTS.sharpFit * (fit - 1));
    const byBoth = Math.exp(DEFAULTS.sharpBoth * (fit - 1 + behind));
    totals.sharp += sharp;
    totals.fit += byFit;
    totals.both += byBoth;
    if (fit + behind > best.merit) best = { run: i, merit: fit + behind, fit };
    if (likely === 0) continue;
    for (const place of uses) {
      const vote = votes.get(place);
      if (!vote) continue;
      vote.sharp += sharp;
      vote.fit += byFit;
      vote.both += byBoth;
    }
  }
  for (const vote of votes.values()) {
    vote.near /= totals.near || 1;
    vote.sharp /= totals.sharp || 1;
    vote.fit /= totals.fit || 1;
    vote.both /= totals.both || 1;
  }
  return {
    votes,
    nearest: [0, 1, 2].map((rank) => new Set(nearest[rank] && runs[nearest[rank].row]!.uses)),
    cosine,
    bestFit: new Set(runs[best.run]?.uses),
    fit: best.fit,
    size: size / (totals.near || 1),
    guessedSize,
  };
}
