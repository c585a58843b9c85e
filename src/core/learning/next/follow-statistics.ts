import type { Candidates } from '../ranker/candidates.ts';
import { type LearnableRun, placeRun, rememberRuns } from '../ranker/learn-ranker.ts';
import { PastRuns } from '../ranker/past-runs.ts';

const DEFAULTS = {
  /** Sharpness of the kernels by which runs of like intents speak louder. */
  warm: 10,
  hot: 25,
  /** The same for tools that are like the last call. */
  akin: 10,
  /** Calls that what is known in general counts for, where something more special is asked. */
  backOff: 1,
  /** The same as a share of what was seen, where calls weigh less than 1. */
  backOffShare: 0.1,
  /** Calls like the last that streaks of any tool count for. */
  backOffAgain: 0.3,
  /** So that nothing seen gives the general answer, not 0 / 0. */
  least: 1e-9,
  /** Calls of one run that are looked at, the first ones. */
  calls: 200,
};

/** What past runs say of the step after some calls; lists hold one value per candidate. */
export interface FollowStatistics {
  /** P(next | last): a first-order Markov chain. Where little is known, popularity and repetition stand in. */
  readonly follows: Float64Array;
  /** P(next | the last two), backing off to the first order. */
  readonly followsPair: Float64Array;
  /** P(next | last) where runs speak as loudly as their intents are alike, mildly and sharply. */
  readonly followsWarm: Float64Array;
  readonly followsHot: Float64Array;
  /**
   * P(next | something like the last): past calls speak as loudly as they are like it. One that was repeated
   * speaks for repeating the last, so this tells of tools that were never called.
   */
  readonly followsAkin: Float64Array;
  /** P(next | a call before the last), over all of those. */
  readonly followsEarlier: Float64Array;
  /** Share of what came somewhere after the first use of what has been called. */
  readonly later: Float64Array;
  /** Share of the votes of runs that called the same, by the square of the overlap. */
  readonly company: Float64Array;
  /** P(next | this many steps) in runs of like intents. */
  readonly place: Float64Array;
  /** Chance of things that stood before the candidate in its runs and have not been called, summed up. */
  readonly waiting: Float64Array;
  /**
   * Chance that the last call is made once more, of those that went on after as many in a row: the hazard of
   * streaks, where past calls speak as loudly as they are like the last.
   */
  readonly again: number;
  /** Runs with the last call in them, runs that ended with it, and runs where each came right after it. */
  readonly seen: number;
  readonly ended: number;
  readonly after: Float64Array;
  readonly ends: EndStatistics;
}

/** How runs end; chances, smoothed. */
export interface EndStatistics {
  /** P(end | last). */
  readonly afterLast: number;
  /** P(end | so many steps), in runs of like intents. */
  readonly atStep: number;
  /** P(nothing else was called | all that has been called was). */
  readonly ofSet: number;
  /** Mean number of steps of runs of like intents; 0 without any. */
  readonly usualSteps: number;
}

/** A run's next step, as far as it has come. */
export interface FollowQuestion {
  /** Places of what has been called, in order, repeats kept. */
  readonly before: readonly number[];
  /** Of the run's intent and each past run's. */
  readonly cosines: ArrayLike<number>;
  /** Of the last call and each candidate; empty before the first. */
  readonly likeness: ArrayLike<number>;
  /** Of each candidate, the chance that the intent needs it. */
  readonly chances: ArrayLike<number>;
  readonly isHidden?: (run: number) => boolean;
}

/** One pass over all runs: they are thousands at the most, and each is short. */
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

  /** All 0 where nothing was counted. */
  shares(): Float64Array {
    return this.values.map((count) => (this.total > 0 ? count / this.total : 0));
  }

  /** Shares as if `general` had been counted so many times besides. */
  backedOff(general: Float64Array, times: number): Float64Array {
    return this.values.map((count, i) => (count + times * general[i]!) / (this.total + times));
  }
}

/** How often streaks of one length went on, at all and among tools like the last. */
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

/** How often the last call was made without another in between. */
export function streakOf(before: readonly number[]): number {
  const other = before.findLastIndex((place) => place !== before.at(-1));
  return before.length - 1 - other;
}

interface RunEnd {
  readonly weight: number;
  /** The weight by likeness of intent. */
  readonly mild: number;
  /** Steps beyond those taken so far; below 0 where the run was shorter. */
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

/** A share that starts at one half (Krichevsky & Trofimov, 1981). */
function half(count: number, of: number, times = 1): number {
  return (count + times / 2) / (of + times);
}

/**
 * Share of the times the last call was made before in this very run that each came right after it, as if there
 * had been one more: what was just done is done again (a cache model: Kuhn & De Mori, 1990).
 */
export function followersHere(before: readonly number[]): Map<number, number> {
  const last = before.at(-1);
  const followers = before.slice(1).filter((_, i) => before[i] === last);
  const shares = new Map<number, number>();
  for (const place of followers) shares.set(place, (shares.get(place) ?? 0) + 1 / (followers.length + 1));
  return shares;
}

/** Past runs with the order in which they called things. */
export interface PastSequences {
  readonly past: PastRuns;
  /** Places of what each run of `past` called, in order, repeats kept. */
  readonly sequences: readonly (readonly number[])[];
}

/** `beliefIn` is given where the runs were weighed already: weighing each by all others takes quadratic time. */
export function rememberSequences(
  candidates: Candidates,
  runs: readonly LearnableRun[],
  beliefIn?: (run: LearnableRun) => number,
): PastSequences {
  const known = runs.filter(({ uses }) => uses.some((id) => candidates.placeOf(id) !== undefined));
  const past = beliefIn ? believed(candidates, known, beliefIn) : rememberRuns(candidates, known);
  // Only the newest are remembered, and none of those is left out here.
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

/** Places of known ids, in order, repeats kept. */
export function sequenceOf(candidates: Candidates, ids: readonly string[]): number[] {
  return ids.flatMap((id) => candidates.placeOf(id) ?? []).slice(0, DEFAULTS.calls);
}
