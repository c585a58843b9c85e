import { logOdds } from '../../numeric/matrices.ts';

const DEFAULTS = {
  /** Outcomes that are looked back on, the newest. */
  outcomes: 200,
  /** Outcomes that what was expected beforehand counts for. */
  prior: 2,
  /** The same for what texts expected, which few jobs show: a job counts once, however often it recurs. */
  textPrior: 1.5,
  /** How far apart in closeness two copies may be and still tell of each other. */
  width: 0.1,
  /** The same of copies of other jobs. */
  otherWidth: 0.15,
  /** The same of disputes between a copy and texts: how many the prior counts for, by closeness, by what texts expected. */
  disputes: 4,
  disputeWidth: 0.07,
  expectedWidth: 0.15,
  /** Share of its weight that a dispute keeps with each run after it. */
  kept: 0.98,
  /** Share of the outcomes that are as far as a copy, or farther, from which its distance is usual in this store. */
  rare: 0.1,
  /** Share of what a copy is expected to be worth where all near runs ask for other work, by what they say. */
  other: 0.7,
  /** F1, in all, by which copies by job are ahead of copies of the closest run before any run has shown it. */
  job: 0.5,
  /** Runs that speak against what was learned: with n runs, n / (n + doubt) of its confidence counts. */
  doubt: 12,
  /** Examples of each kind below which confidence stays as it is. */
  leastExamples: 10,
  /**
   * Pull toward what plans were worth in other catalogues. It is strong: the runs that were left out are of a few
   * servers, and tell of each other more than of servers to come.
   */
  ridge: 60,
  rounds: 30,
  leastStep: 1e-3,
  /** Chances are kept within these, as log-odds of certainty have no end. */
  leastChance: 0.02,
};

/** What plans that were drafted before a run was known turned out to be worth: the F1 of their tools with the run's. */
export interface PlanOutcome {
  readonly closeness: number;
  /** All near runs asked for other work, by their verbs: these mislead in some stores, and decide in others. */
  readonly isOther: boolean;
  readonly copied: number;
  /** The same of a copy of any run at all: where all runs did the same, a copy that is right shows nothing. */
  readonly byChance: number;
  /** Null while nothing was learned. */
  readonly learned: KeptWord | null;
  /** Of the tools whose texts fit; null where the one that fits best is in the copy. */
  readonly text: KeptWord | null;
  /** How much more a copy by job was worth than one of the closest run; absent where it is the same run. */
  readonly jobGain?: number;
  /** Of the tools whose texts fit, where no run before had used the same tools; absent where one had, or no text fitted. */
  readonly textOfFirst?: KeptWord;
  /** What a copy of the closest run of another job was worth; absent where none is close. */
  readonly elsewhere?: { readonly closeness: number; readonly copied: number };
}

/** What a plan was expected to be worth, and what it was worth. */
interface KeptWord {
  readonly expected: number;
  readonly f1: number;
}

/** What past runs tell about a plan, besides its tools. */
export interface PlanSigns {
  /** What it expects of itself. */
  readonly expected: number;
  /** Cosine of the nearest run. */
  readonly nearest: number;
  /** Share of the tools that fit best by their text that no run has used. */
  readonly unused: number;
  /** By its text, the chance of the best one that no run has used and the plan does without. */
  readonly missed: number;
}

/** Coefficients of a logistic: of 1, the log-odds of what a plan expects, `nearest`, `unused` and `missed`. */
export type PlanWorth = readonly [
  level: number,
  expected: number,
  nearest: number,
  unused: number,
  missed: number,
];

/** Fitted on six public data sets by scripts/fit-plan-worth.ts. */
export const SHIPPED_PLAN_WORTH: PlanWorth = [-0.08, 0.5, 0.41, 0.08, -0.72];

/** A plan for a run that nothing was learned from, and what it turned out to be worth. */
export interface JudgedPlan extends PlanSigns {
  readonly f1: number;
  /** The run used tools of servers that were left out. */
  readonly isFar: boolean;
}

/**
 * What plans are worth in this store, by what is known of them: logistic regression (Platt, "Probabilistic outputs for
 * support vector machines", 1999) on plans for near and for far runs that a ranker had not seen, both kinds of equal
 * weight, pulled toward what plans are worth elsewhere.
 */
export class PlanCalibration {
  /** As in `PlanWorth`. */
  readonly weights: Float64Array;

  constructor(weights: ArrayLike<number>) {
    this.weights = Float64Array.from(weights);
  }

  static readonly WIDTH = 5;

  /** Null where there are too few. */
  static fit(
    judged: readonly JudgedPlan[],
    elsewhere: PlanWorth = SHIPPED_PLAN_WORTH,
  ): PlanCalibration | null {
    const far = judged.filter(({ isFar }) => isFar).length;
    const near = judged.length - far;
    if (Math.min(far, near) < DEFAULTS.leastExamples) return null;
    const weighed = judged.map((plan) => ({
      ...plan,
      weight: judged.length / 2 / (plan.isFar ? far : near),
    }));
    return new PlanCalibration(
      fitWorth(
        weighed,
        elsewhere,
        elsewhere.map(() => DEFAULTS.ridge),
      ),
    );
  }

  /** The F1 to be expected. */
  at(signs: PlanSigns): number {
    return chanceOf(this.weights, featuresOf(signs));
  }
}

/**
 * The coefficients of least cross-entropy, `pull` times half the square of their distance from `start` added to it.
 * Newton's method: the loss is convex, and a step that overshoots is halved.
 */
export function fitWorth(
  plans: readonly (PlanSigns & { readonly f1: number; readonly weight: number })[],
  start: readonly number[],
  pull: readonly number[],
): Float64Array {
  const rows = plans.map((plan) => ({ x: featuresOf(plan), f1: plan.f1, weight: plan.weight }));
  const loss = (of: Float64Array) =>
    rows.reduce((sum, { x, f1, weight }) => sum + weight * crossEntropy(sumOf(of, x), f1), 0) +
    pull.reduce((sum, value, i) => sum + (value * (of[i]! - start[i]!) ** 2) / 2, 0);
  let weights = Float64Array.from(start);
  for (let round = 0; round < DEFAULTS.rounds; round++) {
    const slope = weights.map((weight, i) => pull[i]! * (weight - start[i]!));
    const curve = pull.map((value, i) => pull.map((_, j) => (i === j ? value : 0)));
    for (const { x, f1, weight } of rows) {
      const chance = chanceOf(weights, x);
      for (let i = 0; i < x.length; i++) {
        slope[i]! += weight * (chance - f1) * x[i]!;
        for (let j = 0; j < x.length; j++) curve[i]![j]! += weight * chance * (1 - chance) * x[i]! * x[j]!;
      }
    }
    const step = solved(curve, slope);
    const before = loss(weights);
    let next = weights;
    for (let share = 1; share > DEFAULTS.leastStep; share /= 2) {
      next = weights.map((weight, i) => weight - share * step[i]!);
      if (loss(next) <= before) break;
      next = weights;
    }
    if (next === weights) break;
    weights = next;
  }
  return weights;
}

/** On scales of about one. */
function featuresOf({ expected, nearest, unused, missed }: PlanSigns): number[] {
  const { leastChance } = DEFAULTS;
  const chance = Math.min(1 - leastChance, Math.max(leastChance, expected));
  return [1, logOdds(chance), 4 * (nearest - 0.5), 2 * unused, 2 * missed];
}

function sumOf(weights: Float64Array, x: readonly number[]): number {
  return x.reduce((sum, value, i) => sum + value * weights[i]!, 0);
}

function chanceOf(weights: Float64Array, x: readonly number[]): number {
  return 1 / (1 + Math.exp(-sumOf(weights, x)));
}

/** log(1 + e^z) - f1 z, for any z. */
function crossEntropy(z: number, f1: number): number {
  return Math.max(0, z) + Math.log1p(Math.exp(-Math.abs(z))) - f1 * z;
}

/** Solves a small symmetric, positive definite system by elimination. */
function solved(matrix: number[][], right: Float64Array): number[] {
  const n = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < n; i++) {
    for (let k = i + 1; k < n; k++) {
      const share = rows[k]![i]! / rows[i]![i]!;
      for (let j = i; j <= n; j++) rows[k]![j]! -= share * rows[i]![j]!;
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    const rest = x.reduce((sum, value, j) => (j > i ? sum + rows[i]![j]! * value : sum), 0);
    x[i] = (rows[i]![n]! - rest) / rows[i]![i]!;
  }
  return x;
}

/**
 * Which way of planning has proven better on the runs of this store: each run is a test of all of them before they learn
 * from it (prequential evaluation: Dawid, "Statistical theory: the prequential approach", 1984).
 */
export class PlanRecord {
  readonly outcomes: readonly PlanOutcome[];
  /**
   * Whether to copy by what all runs of a job say, and not by the closest run alone: that is better where jobs recur as
   * they are, and may mislead where each one is put together differently.
   */
  readonly copiesByJob: boolean;

  constructor(outcomes: readonly PlanOutcome[] = []) {
    this.outcomes = outcomes.slice(-DEFAULTS.outcomes);
    this.copiesByJob = this.outcomes.reduce((sum, { jobGain = 0 }) => sum + jobGain, DEFAULTS.job) > 0;
  }

  with(outcome: PlanOutcome): PlanRecord {
    return new PlanRecord([...this.outcomes, outcome]);
  }

  /**
   * The F1 to be expected of a copy: that of others as close (Nadaraya-Watson), as far as these were right by more than
   * chance (as in Cohen's kappa, 1960), and `prior` while there are few. Where
   * hardly a run was ever this far from those before it, the question is foreign, and the prior says little.
   */
  copiedAt(closeness: number, isOther: boolean, prior: number): number {
    let sum = DEFAULTS.prior * prior * (isOther ? DEFAULTS.other : 1) * this.#usual(closeness);
    let weights = DEFAULTS.prior;
    for (const outcome of this.outcomes) {
      if (outcome.isOther !== isOther) continue;
      const weight =
        (1 - outcome.byChance) * Math.exp(-(((outcome.closeness - closeness) / DEFAULTS.width) ** 2) / 2);
      sum += weight * outcome.copied;
      weights += weight;
    }
    return sum / weights;
  }

  /**
   * The F1 to be expected of a copy for a kind of work that no run is of: that of copies between jobs as close as this,
   * which use some of the same tools in some stores and none in others. `prior` while there are few. Early copies came
   * from few runs and lay far: on six data sets a copy closer by .1 was worth about .1 more.
   */
  elsewhereAt(closeness: number, prior: number): number {
    let sum = DEFAULTS.prior * prior;
    let weights = DEFAULTS.prior;
    for (const { elsewhere } of this.outcomes) {
      if (!elsewhere) continue;
      const closer = closeness - elsewhere.closeness;
      const weight = Math.exp(-((closer / DEFAULTS.otherWidth) ** 2) / 2);
      sum += weight * Math.min(1, Math.max(0, elsewhere.copied + closer));
      weights += weight;
    }
    return sum / weights;
  }

  /**
   * The F1 to be expected of tools whose texts fit: what they expect of themselves, as far as that came true where a job
   * was new. How many of the right tools an intent tells differs from store to store.
   */
  textAt(expected: number): number {
    let promised = DEFAULTS.textPrior;
    let kept = DEFAULTS.textPrior;
    for (const { textOfFirst } of this.outcomes) {
      if (!textOfFirst) continue;
      promised += textOfFirst.expected;
      kept += textOfFirst.f1;
    }
    return Math.min(1, (expected * kept) / promised);
  }

  /**
   * How much more the texts of tools are worth than a copy they speak against: as much as in disputes like this one, the
   * newest above all, because copies get better as runs add up. `prior` while there are few.
   */
  textGain(closeness: number, expected: number, prior: number): number {
    const { disputes, disputeWidth, expectedWidth, kept } = DEFAULTS;
    let sum = disputes * prior;
    let weights = disputes;
    for (const [i, { text, ...outcome }] of this.outcomes.entries()) {
      if (!text) continue;
      const apart =
        ((outcome.closeness - closeness) / disputeWidth) ** 2 +
        ((text.expected - expected) / expectedWidth) ** 2;
      const weight = (1 - outcome.byChance) * Math.exp(-apart / 2) * kept ** (this.outcomes.length - i);
      sum += weight * (text.f1 - outcome.copied);
      weights += weight;
    }
    return sum / weights;
  }

  /** How far a copy as close as this one is usual, in (0, 1]. */
  #usual(closeness: number): number {
    const limit = closeness + DEFAULTS.width;
    const asFar = this.outcomes.filter((outcome) => outcome.closeness <= limit).length;
    return Math.min(1, (1 + asFar) / (1 + DEFAULTS.rare * this.outcomes.length));
  }

  /** The same of what was learned, which predicts its own F1: how far that has been right so far. */
  learnedAt(expected: number, runs: number): number {
    let promised = DEFAULTS.prior;
    let kept = (DEFAULTS.prior * runs) / (runs + DEFAULTS.doubt);
    for (const { learned } of this.outcomes) {
      if (!learned) continue;
      promised += learned.expected;
      kept += learned.f1;
    }
    return Math.min(1, (expected * kept) / promised);
  }
}
