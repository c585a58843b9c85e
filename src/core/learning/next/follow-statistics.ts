import type { Candidates } from '../ranker/candidates.ts';
import { type LearnableRun, placeRun, rememberRuns } from '../ranker/learn-ranker.ts';
import { PastRuns } from '../ranker/past-runs.ts';

const DEFAULTS = {
  /** Sharpness of the kernels that weight past runs by the similarity of their intents. */
  warm: 10,
  hot: 25,
  /** Sharpness of the kernel that weights past calls by the similarity of their tool to the last call. */
  akin: 10,
  /** Pseudo-count of the more general distribution when backing off. */
  backOff: 1,
  /** The same as a share of the observed weight, where calls weigh less than 1. */
  backOffShare: 0.1,
  /** Pseudo-count of streaks of any tool beside streaks of similar tools. */
  backOffAgain: 0.3,
  /** Pseudo-count that avoids 0 / 0, so that without data the general distribution results. */
  least: 1e-9,
  /** Most calls of one run that are read, from the start. */
  calls: 200,
};

/** What past runs predict for the step after some calls; arrays have one value per candidate. */
export interface FollowStatistics {
  /** P(next | last): a first-order Markov chain that backs off to popularity and repetition. */
  readonly follows: Float64Array;
  /** P(next | last two), backing off to the first order. */
  readonly followsPair: Float64Array;
  /** P(next | last) with runs weighted by the similarity of their intents: a mild and a sharp kernel. */
  readonly followsWarm: Float64Array;
  readonly followsHot: Float64Array;
  /**
   * P(next | a tool similar to the last): past calls are weighted by similarity. A repeated past call counts as
   * repeating the last call, so this also covers tools that were never called.
   */
  readonly followsAkin: Float64Array;
  /** P(next | a call before the last), over all of those. */
  readonly followsEarlier: Float64Array;
  /** Share of the calls that came anywhere after the first use of a tool called so far. */
  readonly later: Float64Array;
  /** Share of the votes of runs that called the same tools, weighted by the square of the overlap. */
  readonly company: Float64Array;
  /** P(next | this many steps) in runs with similar intents. */
  readonly place: Float64Array;
  /** Sum of the probabilities of tools that preceded the candidate in its runs and have not been called yet. */
  readonly waiting: Float64Array;
  /**
   * Probability that the last call is repeated, given a streak of this length: the hazard of streaks, with past
   * calls weighted by similarity to the last.
   */
  readonly again: number;
  /** Runs with the last call in them, runs that ended with it, and runs where each candidate came right after it. */
  readonly seen: number;
  readonly ended: number;
  readonly after: Float64Array;
  readonly ends: EndStatistics;
}

/** How runs end; smoothed probabilities. */
export interface EndStatistics {
  /** P(end | last). */
  readonly afterLast: number;
  /** P(end | this many steps), in runs with similar intents. */
  readonly atStep: number;
  /** P(nothing else was called | all tools called so far were called). */
  readonly ofSet: number;
  /** Mean number of steps of runs with similar intents; 0 without any. */
  readonly usualSteps: number;
}

/** The state of a run before its next step. */
export interface FollowQuestion {
  /** Indices of the tools called so far, in order, with repeats. */
  readonly before: readonly number[];
  /** Cosines of the run's intent and those of past runs. */
  readonly cosines: ArrayLike<number>;
  /** Similarities of the last call and each candidate; empty before the first call. */
  readonly likeness: ArrayLike<number>;
  /** For each candidate, the probability that the intent needs it. */
  readonly chances: ArrayLike<number>;
  readonly isHidden?: (run: number) => boolean;
}

/** One pass over all runs, which are thousands at most, and short. */
export function followStatistics(
  size: number,
  { past, sequences }: PastSequences,
  { before, cosines, likeness, chances, isHidden }: FollowQuestion,
): FollowStatistics {
  const [popular, direct, pair, warm, hot, akin, earlier, later, company, place] = Array.from(
    { length: 10 },
    () => new Counts(size),
  ) as [Counts, Counts, Counts, Counts, Counts, Counts, Counts, Counts, Counts, Counts];
  const [waiting, holders, after] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  let repeats = 0;
  const streaks = new StreakCounts(streakOf(before));
  const ends = new EndCounts();
  const last = before.at(-1);
  const secondLast = before.at(-2);
  const called = new Set(before);
  const calledEarlier = new Set(before.slice(0, -1));
  let seen = 0;
  let ended = 0;
  for (const [run, sequence] of sequences.entries()) {
    if (isHidden?.(run)) continue;
    const weight = past.weights[run]!;
    const mild = weight * Math.exp(DEFAULTS.warm * (cosines[run]! - 1));
    const sharp = weight * Math.exp(DEFAULTS.hot * (cosines[run]! - 1));
    const used = past.uses[run]!;
    const overlap = used.reduce((count, tool) => count + Number(called.has(tool)), 0);
    const voice = called.size === 0 ? 0 : (weight * overlap * overlap) / (used.length * called.size);
    const met = new Set<number>();
    const metAfter = new Set<number>();
    let passed = 0;
    let missing = 0;
    let inARow = 0;
    for (const [i, tool] of sequence.entries()) {
      if (!met.has(tool)) {
        met.add(tool);
        company.add(tool, voice);
        if (passed > 0) later.add(tool, weight * passed);
        waiting[tool]! += mild * missing;
        holders[tool]! += mild;
        if (called.has(tool)) passed++;
        else missing += chances[tool]!;
      }
      if (i === 0) continue;
      const from = sequence[i - 1]!;
      popular.add(tool, weight);
      if (from === tool) repeats += weight;
      inARow = from === sequence[i - 2] ? inARow + 1 : 1;
      if (last !== undefined) {
        const like = weight * Math.exp(DEFAULTS.akin * (likeness[from]! - 1));
        akin.add(from === tool ? last : tool, like);
        streaks.add(inARow, from === tool, weight, like);
      }
      if (calledEarlier.has(from)) earlier.add(tool, weight);
      if (from !== last) continue;
      metAfter.add(tool);
      direct.add(tool, weight);
      warm.add(tool, mild);
      hot.add(tool, sharp);
      if (i > 1 && sequence[i - 2] === secondLast) pair.add(tool, weight);
    }
    const here = sequence[before.length];
    if (here !== undefined) place.add(here, mild);
    if (last !== undefined && met.has(last)) seen++;
    if (sequence.at(-1) === last) ended++;
    for (const tool of metAfter) after[tool]!++;
    ends.add({
      weight,
      mild,
      steps: sequence.length - before.length,
      length: sequence.length,
      isLast: sequence.at(-1) === last,
      holdsAll: overlap === called.size,
      holdsNoMore: overlap === used.length,
    });
  }
  const repeated = repeats / (popular.total || 1);
  const general = popular
    .shares()
    .map((share, tool) => (1 - repeated) * share + (tool === last ? repeated : 0));
  const follows = direct.backedOff(general, DEFAULTS.backOff);
  const { backOffShare, least } = DEFAULTS;
  return {
    follows,
    followsPair: pair.backedOff(follows, DEFAULTS.backOff),
    followsWarm: warm.backedOff(follows, backOffShare * warm.total + least),
    followsHot: hot.backedOff(follows, backOffShare * hot.total + least),
    followsAkin: akin.backedOff(general, backOffShare * akin.total + least),
    followsEarlier: earlier.shares(),
    later: later.shares(),
    company: company.shares(),
    place: place.shares(),
    waiting: waiting.map((sum, tool) => (holders[tool]! > 0 ? sum / holders[tool]! : 0)),
    again: streaks.again(),
    seen,
    ended,
    after,
    ends: ends.statistics(direct.total),
  };
}

/** Weighted counts per candidate, and their sum. */
class Counts {
  readonly values: Float64Array;
  total = 0;

  constructor(size: number) {
    this.values = new Float64Array(size);
  }

  add(place: number, amount: number): void {
    this.values[place]! += amount;
    this.total += amount;
  }

  /** All 0 if nothing was counted. */
  shares(): Float64Array {
    return this.values.map((count) => (this.total > 0 ? count / this.total : 0));
  }

  /** Shares as if `general` had been counted `times` times in addition. */
  backedOff(general: Float64Array, times: number): Float64Array {
    return this.values.map((count, i) => (count + times * general[i]!) / (this.total + times));
  }
}

/** How often streaks of one length continued, for all tools and for tools similar to the last. */
class StreakCounts {
  readonly #length: number;
  #all = 0;
  #allOn = 0;
  #like = 0;
  #likeOn = 0;

  constructor(length: number) {
    this.#length = length;
  }

  add(length: number, wentOn: boolean, weight: number, like: number): void {
    if (length !== this.#length) return;
    this.#all += weight;
    this.#like += like;
    if (!wentOn) return;
    this.#allOn += weight;
    this.#likeOn += like;
  }

  again(): number {
    const { backOffAgain } = DEFAULTS;
    return (this.#likeOn + backOffAgain * half(this.#allOn, this.#all)) / (this.#like + backOffAgain);
  }
}

/** Length of the streak of the last call. */
export function streakOf(before: readonly number[]): number {
  const other = before.findLastIndex((place) => place !== before.at(-1));
  return before.length - 1 - other;
}

interface RunEnd {
  readonly weight: number;
  /** The weight by similarity of intent. */
  readonly mild: number;
  /** Steps beyond those taken so far; negative if the run was shorter. */
  readonly steps: number;
  readonly length: number;
  readonly isLast: boolean;
  readonly holdsAll: boolean;
  readonly holdsNoMore: boolean;
}

class EndCounts {
  #afterLast = 0;
  #reached = 0;
  #atStep = 0;
  #supersets = 0;
  #equals = 0;
  #likeness = 0;
  #length = 0;

  add({ weight, mild, steps, length, isLast, holdsAll, holdsNoMore }: RunEnd): void {
    if (isLast) this.#afterLast += weight;
    if (steps >= 0) this.#reached += mild;
    if (steps === 0) this.#atStep += mild;
    if (holdsAll) this.#supersets += weight;
    if (holdsAll && holdsNoMore) this.#equals += weight;
    this.#likeness += mild;
    this.#length += mild * length;
  }

  /** `wentOn` is how often the last call was followed by another. */
  statistics(wentOn: number): EndStatistics {
    return {
      afterLast: half(this.#afterLast, this.#afterLast + wentOn),
      atStep: half(this.#atStep, this.#reached, DEFAULTS.backOffShare * this.#likeness + DEFAULTS.least),
      ofSet: half(this.#equals, this.#supersets),
      usualSteps: this.#likeness > 0 ? this.#length / this.#likeness : 0,
    };
  }
}

/** A share that starts at one half (the estimator of Krichevsky & Trofimov, 1981). */
function half(count: number, of: number, times = 1): number {
  return (count + times / 2) / (of + times);
}

/**
 * For each tool, the share of earlier occurrences of the last call in this run that it directly followed, with one
 * pseudo-count: recent patterns recur (a cache model: Kuhn & De Mori, 1990).
 */
export function followersHere(before: readonly number[]): Map<number, number> {
  const last = before.at(-1);
  const followers = before.slice(1).filter((_, i) => before[i] === last);
  const shares = new Map<number, number>();
  for (const place of followers) shares.set(place, (shares.get(place) ?? 0) + 1 / (followers.length + 1));
  return shares;
}

/** Past runs with the order of their calls. */
export interface PastSequences {
  readonly past: PastRuns;
  /** Indices of the tools that each run of `past` called, in order, with repeats. */
  readonly sequences: readonly (readonly number[])[];
}

/** `beliefIn` avoids weighing runs again: weighing each by all others takes quadratic time. */
export function rememberSequences(
  candidates: Candidates,
  runs: readonly LearnableRun[],
  beliefIn?: (run: LearnableRun) => number,
): PastSequences {
  const known = runs.filter(({ uses }) => uses.some((id) => candidates.placeOf(id) !== undefined));
  const past = beliefIn ? believed(candidates, known, beliefIn) : rememberRuns(candidates, known);
  // Only the newest runs are remembered, and none of those is skipped here.
  const kept = known.slice(known.length - past.runs.length);
  return { past, sequences: kept.map(({ uses }) => sequenceOf(candidates, uses)) };
}

function believed(
  candidates: Candidates,
  runs: readonly LearnableRun[],
  beliefIn: (run: LearnableRun) => number,
): PastRuns {
  const past = new PastRuns([], candidates);
  for (const run of runs) past.add(placeRun(candidates, run)!, beliefIn(run));
  return past;
}

/** Indices of known ids, in order, with repeats. */
export function sequenceOf(candidates: Candidates, ids: readonly string[]): number[] {
  return ids.flatMap((id) => candidates.placeOf(id) ?? []).slice(0, DEFAULTS.calls);
}
