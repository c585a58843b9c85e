import { logOdds } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';
import { type HistoryView, nearestRuns } from './plan-history.ts';

const DEFAULTS = {
  /** Candidates looked at for one plan, best first. */
  candidates: 48,
  /** Of these, those that may draw others in. */
  drawing: 16,
  /** Runs a share is smoothed with. */
  smoothing: 1,
  /** Runs after which it says something that two were never used together. */
  known: 5,
  /** The nearest past runs are asked by intent alone, each by this power of its cosine. */
  power: 4,
  /** How sharply past runs are told apart: by intent, by how well their tools fit, by both. */
  sharpIntent: 30,
  sharpFit: 12,
  sharpBoth: 20,
};

/** What tells whether a candidate belongs to the set; `nearest` and the like speak of past runs. */
export const MEMBERSHIP_FEATURES = [
  'log_chance',
  'gap_to_best',
  'gap_to_next',
  'gap_to_previous',
  'rank',
  'first_guess',
  'is_used',
  'used',
  'in_nearest',
  'nearest_cosine',
  'in_nearest_by_cosine',
  'in_second',
  'in_third',
  'share_of_nearest',
  'sharp_share',
  'fit_share',
  'both_share',
  'in_best_fit',
  'best_fit',
  'drawn_most',
  'drawn_any',
  'needed_most',
  'needed_any',
  'co_use_mean',
  'replaced_most',
  'size_of_near',
  'size_guessed',
  'runs',
  'ordered',
] as const;

export const MEMBERSHIP_WIDTH = MEMBERSHIP_FEATURES.length;
type Row = Record<(typeof MEMBERSHIP_FEATURES)[number], number>;

/** Columns of a row from which the first guess is made: the ranker's word alone. */
export const GUESS_WIDTH = 4;

/** The best candidates of a ranking. */
export interface Shortlist {
  readonly logits: ArrayLike<number>;
  /** Places, best first. */
  readonly places: readonly number[];
  /** Of all candidates: log of the sum of e to the logits. */
  readonly normaliser: number;
}

export function shortlistOf(logits: ArrayLike<number>): Shortlist {
  const best = new TopK(Math.min(DEFAULTS.candidates, logits.length));
  for (let i = 0; i < logits.length; i++) best.offer(i, logits[i]!);
  const places = best.sorted().map(({ row }) => row);
  const most = logits[places[0]!] ?? 0;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - most);
  return { logits, places, normaliser: most + Math.log(sum) };
}

/** [places x GUESS_WIDTH], row-major. */
export function guessFeatures({ logits, places, normaliser }: Shortlist): Float32Array {
  const most = logits[places[0]!] ?? 0;
  return Float32Array.from(
    places.flatMap((place, i) => {
      const logit = logits[place]!;
      return [logit - normaliser, most - logit, logit, Math.log1p(i)];
    }),
  );
}

/**
 * [places x MEMBERSHIP_WIDTH], row-major. `guesses` gives each place a chance from the ranker alone; what
 * past runs say is weighed by it: which of them fit as a whole, and what comes along with what is likely.
 * `ordered` is the chance that anything waits for anything, `cosines` are those of the intent and each run's.
 */
export function membershipFeatures(
  { logits, places, normaliser }: Shortlist,
  guesses: readonly number[],
  ordered: number,
  cosines: ArrayLike<number>,
  view: HistoryView,
): Float32Array {
  const said = runVotes(places, guesses, cosines, view);
  const logitAt = (i: number, otherwise: number) => logits[places[i] ?? otherwise]!;
  const rows = new Float32Array(places.length * MEMBERSHIP_WIDTH);
  for (const [i, place] of places.entries()) {
    const vote = said.votes.get(place)!;
    const drawn = drawnBy(place, places, guesses, view);
    const isIn = (uses: ReadonlySet<number>) => Number(uses.has(place));
    const row: Row = {
      log_chance: logits[place]! - normaliser,
      gap_to_best: logitAt(0, place) - logits[place]!,
      gap_to_next: logits[place]! - logitAt(i + 1, place),
      gap_to_previous: logitAt(i - 1, place) - logits[place]!,
      rank: Math.log1p(i),
      first_guess: guessLogOdds(guesses[i]!),
      is_used: Number(view.sum('used', place) > 0),
      used: Math.log1p(view.sum('used', place)),
      in_nearest: isIn(said.nearest[0]!),
      nearest_cosine: said.cosine,
      in_nearest_by_cosine: isIn(said.nearest[0]!) * said.cosine,
      in_second: isIn(said.nearest[1]!),
      in_third: isIn(said.nearest[2]!),
      share_of_nearest: vote.near,
      sharp_share: vote.sharp,
      fit_share: vote.fit,
      both_share: vote.both,
      in_best_fit: isIn(said.bestFit),
      best_fit: isIn(said.bestFit) * said.fit,
      drawn_most: drawn.most,
      drawn_any: drawn.any,
      needed_most: drawn.neededMost,
      needed_any: drawn.neededAny,
      co_use_mean: drawn.mean,
      replaced_most: drawn.replaced,
      size_of_near: said.size,
      size_guessed: said.guessedSize,
      runs: Math.log1p(view.runs),
      ordered,
    };
    for (const [k, name] of MEMBERSHIP_FEATURES.entries()) rows[i * MEMBERSHIP_WIDTH + k] = row[name];
  }
  return rows;
}

/** What comes along with those that are likely: used beside them, or needed before them. */
function drawnBy(place: number, places: readonly number[], guesses: readonly number[], view: HistoryView) {
  const { smoothing, drawing, known } = DEFAULTS;
  let [most, without, neededMost, withoutNeed, sum, total, replaced] = [0, 1, 0, 1, 0, 0, 0];
  for (let i = 0; i < Math.min(drawing, places.length); i++) {
    const other = places[i]!;
    const used = view.sum('used', other);
    if (other === place || used === 0) continue;
    const guess = guesses[i]!;
    const together = view.pair('both', other, place) / (used + smoothing);
    const needed = view.pair('edges', place, other) / (used + smoothing);
    most = Math.max(most, guess * together);
    neededMost = Math.max(neededMost, guess * needed);
    without *= 1 - guess * together;
    withoutNeed *= 1 - guess * needed;
    sum += guess * together;
    total += guess;
    // Likely itself and never seen beside it: one of the two will do.
    replaced = Math.max(replaced, guess * (1 - together) * Math.min(1, used / known));
  }
  return {
    most,
    any: 1 - without,
    neededMost,
    neededAny: 1 - withoutNeed,
    mean: sum / (total || 1),
    replaced,
  };
}

function guessLogOdds(chance: number): number {
  return logOdds(Math.min(1 - 1e-4, Math.max(1e-4, chance)));
}

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
function runVotes(
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
