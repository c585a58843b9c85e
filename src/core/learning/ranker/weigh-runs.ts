import { standardised } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';

/**
 * Set by hand, then measured (`npm run bench -- weigh-runs --data DIR`: six public sets, 300 runs each, one in five
 * with random tools). With these values an honest run gets a higher weight than a poisoned one in .982 of all pairs
 * (AUC), and the mean weight is .954 where none is poisoned. Halving or doubling a value changes the AUC by .006 at
 * most, except where another figure is given.
 */
export const DEFAULTS = {
  /** Weight of a failed run: its tools may still have been correct. Public sets have no failures. */
  failed: 0.4,
  /** Number of other runs that vote: enough for a kind of work, few enough for a long past; AUC within .0001. */
  neighbours: 20,
  /** Cosine of intents above which another run votes, fully at 1. Unrelated intents lie below; halved: -.004. */
  near: 0.4,
  /** Votes for a tool that confirm it by 63 %: one very similar run, or a few less similar ones. */
  support: 0.3,
  /** Votes needed before the lack of votes for a tool counts, by 63 %: more than one run. */
  evidence: 1.5,
  /** Weight of the tools of similar runs beside the text. Doubled, poisoned runs confirm each other: -.005. */
  usageWeight: 0.5,
  /** Number of runs at which that weight reaches one half: fewer cover too few kinds of work. */
  runsToUsage: 100,
  /** Sharpness of the kernel over intents: e^(12 (cos - 1)) is half at a cosine of .94. */
  sharpness: 12,
  /** Added to a tool's share before its logarithm: about one use in a thousand runs. */
  leastShare: 1e-3,
  /** Fit of tool and intent, in standard deviations over all tools, that counts as one half. Doubled: -.045. */
  halfFit: 1.5,
  /** Slope of the fit around it: from .12 to .88 within two deviations. Doubled: -.004. */
  steepness: 2,
  /** Usual fit at which texts carry no information: with the two values above, random tools have .1 to .15. */
  chanceFit: 0.1,
  /** Usual fit from which texts are trusted: all six sets lie above, so neither bound changes their figures. */
  tellingFit: 0.3,
  /** Share of the usual fit from which a run's text raises no doubt. Halved: -.044, and .027 more mean weight. */
  usualFit: 0.7,
  /** Number of runs at which the usual fit is half known, so that the first few are trusted. */
  runsToKnow: 20,
  /** In the second round, votes of doubted runs count less; a third changes nothing. */
  rounds: 2,
  /** No run is excluded entirely: new kinds of work have no confirmation yet. */
  least: 0.05,
  /**
   * Mean doubts between which doubted runs lose training weight. Without poison the mean doubt is .05 over the sets
   * (.13 in the worst), with it at least .14: below the first all runs train in full, above the second by their belief.
   */
  honestDoubt: 0.07,
  plainDoubt: 0.12,
};

export type WeighingOptions = typeof DEFAULTS;

/** Past runs as plain numbers; tools are indices of candidates. */
export interface RunsToWeigh {
  /** The tools of each run, without repeats. */
  readonly uses: readonly (readonly number[])[];
  readonly succeeded: readonly boolean[];
  /** What a person said of a run: its weight, whatever the others say. */
  readonly verdicts?: readonly ('good' | 'bad' | undefined)[];
  /** Cosine of one run's intent and every run's. */
  similarities(run: number): ArrayLike<number>;
  /** Cosine of one run's intent and every candidate. */
  cosines(run: number): ArrayLike<number>;
  /** Runs that must not vote on `run`, besides itself: for example those of the same session. */
  isHidden?(run: number, other: number): boolean;
}

/** Another run that votes, with its weight in (0, 1]. */
interface Voice {
  readonly run: number;
  readonly weight: number;
}

export interface RunWeights {
  /** Trust in each run, in (0, 1]. */
  readonly beliefs: Float64Array;
  /** Training weight of each run, in (0, 1]. */
  readonly lessons: Float64Array;
}

/**
 * Weights of past runs, against traces that are wrong by accident or by intent. A tool is doubted as far as no
 * similar run used it and the run's tools fit its intent worse than usual; both only as far as there are enough runs
 * to judge, so that the first few are trusted. The weight of a run is the mean over its tools, and less if it
 * failed. Every run is judged by the others only (leave-one-out, as in edited nearest neighbours: Wilson, 1972).
 *
 * Honest runs that are hard to predict are doubted as well, and are the most instructive: doubted runs lose training
 * weight only where there are more of them than honest work would cause.
 */
export function weighRuns(runs: RunsToWeigh, options: Partial<WeighingOptions> = {}): RunWeights {
  const settings = { ...DEFAULTS, ...options };
  const { uses, succeeded } = runs;
  const bySuccess = Float64Array.from(succeeded, (success, run) => {
    const verdict = runs.verdicts?.[run];
    if (verdict !== undefined) return verdict === 'good' ? 1 : settings.least;
    return success ? 1 : settings.failed;
  });
  const judged = uses.map((tools, run) => {
    const similarities = runs.similarities(run);
    const others = (other: number) => other !== run && !runs.isHidden?.(run, other);
    return {
      voices: voicesFor(uses.length, similarities, others, settings),
      fit: fitOf(tools, fitScores(uses, runs.cosines(run), similarities, others, settings), settings),
    };
  });
  const usual = judged.map(({ fit }) => fit).toSorted((a, b) => a - b)[judged.length >> 1] || 1;
  const { chanceFit, tellingFit, usualFit, runsToKnow, rounds, least } = settings;
  const trustInFit = between(usual, chanceFit, tellingFit);
  const doubtOfMisfit = trustInFit * usual * grown(uses.length, runsToKnow);

  let doubts = new Float64Array(uses.length);
  for (let round = 0; round < rounds; round++) {
    const heard = bySuccess.map((weight, run) => weight * (1 - doubts[run]!));
    doubts = doubts.map((_, run) => {
      if (runs.verdicts?.[run] !== undefined) return 0;
      const { voices, fit } = judged[run]!;
      const silence = silenceOf(uses, run, voices, doubtOfMisfit, heard, settings);
      const misfit = 1 - trustInFit * Math.min(1, fit / (usualFit * usual)) ** 2;
      return Math.min(1 - least, silence * misfit);
    });
  }
  const caution = between(meanOf(doubts), settings.honestDoubt, settings.plainDoubt);
  return {
    beliefs: bySuccess.map((weight, run) => weight * (1 - doubts[run]!)),
    lessons: bySuccess.map((weight, run) => weight * (1 - caution * doubts[run]!)),
  };
}

type IsHeard = (other: number) => boolean;

function voicesFor(
  count: number,
  similarities: ArrayLike<number>,
  isHeard: IsHeard,
  { neighbours, near }: WeighingOptions,
): Voice[] {
  const nearest = new TopK(neighbours);
  for (let other = 0; other < count; other++) {
    const similarity = similarities[other]!;
    if (similarity > near && isHeard(other)) nearest.offer(other, similarity);
  }
  return nearest
    .sorted()
    .map(({ row, score }) => ({ run: row, weight: Math.min(1, (score - near) / (1 - near)) }));
}

/** Fit of each candidate to an intent: by its text and, with more runs, by the tools of similar runs. */
function fitScores(
  uses: RunsToWeigh['uses'],
  cosines: ArrayLike<number>,
  similarities: ArrayLike<number>,
  isHeard: IsHeard,
  { usageWeight, runsToUsage, sharpness, leastShare }: WeighingOptions,
): Float64Array {
  const says = new Float64Array(cosines.length);
  let total = 0;
  for (let other = 0; other < uses.length; other++) {
    if (!isHeard(other)) continue;
    const say = Math.exp(sharpness * (similarities[other]! - 1));
    total += say;
    for (const tool of uses[other]!) says[tool]! += say;
  }
  const byText = standardised(cosines);
  const byUse = standardised(says.map((say) => Math.log(leastShare + say / (total || 1))));
  const trustInUse = usageWeight * grown(uses.length, runsToUsage);
  return byText.map((score, i) => score + trustInUse * byUse[i]!);
}

/**
 * Fit of the tools, in [0, 1]: the mean over them of a logistic of their standard score among all candidates,
 * which does not depend on the embedding model; 1 without tools.
 */
function fitOf(
  tools: readonly number[],
  scores: Float64Array,
  { steepness, halfFit }: WeighingOptions,
): number {
  if (tools.length === 0) return 1;
  const standard = standardised(scores);
  return meanOf(tools.map((tool) => 1 / (1 + Math.exp(-steepness * (standard[tool]! - halfFit)))));
}

/** How strongly the lack of votes counts against the run's tools, in [0, 1]: the mean over its tools. */
function silenceOf(
  uses: RunsToWeigh['uses'],
  run: number,
  voices: readonly Voice[],
  doubtOfMisfit: number,
  heard: Float64Array,
  settings: WeighingOptions,
): number {
  const volume = (those: readonly Voice[]) =>
    those.reduce((sum, voice) => sum + voice.weight * heard[voice.run]!, 0);
  const evidence = saturate(volume(voices), settings.evidence);
  const ground = 1 - (1 - evidence) * (1 - doubtOfMisfit);
  const silences = uses[run]!.map((tool) => {
    const support = volume(voices.filter((voice) => uses[voice.run]!.includes(tool)));
    return ground * (1 - saturate(support, settings.support));
  });
  return meanOf(silences);
}

function saturate(amount: number, scale: number): number {
  return 1 - Math.exp(-amount / scale);
}

/** A saturating function: one half at `half`, approaching 1. */
function grown(amount: number, half: number): number {
  return amount / (amount + half);
}

/** 0 up to `low`, 1 from `high` on. */
function between(value: number, low: number, high: number): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)));
}

function meanOf(values: Iterable<number>): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    sum += value;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}
