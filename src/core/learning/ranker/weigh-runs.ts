import { TopK } from '../../numeric/top-k.ts';
import { standardised } from '../../numeric/vectors.ts';

/**
 * Set by hand, then measured (`npm run bench -- weigh-runs --data DIR`: six public sets, 300 runs each, one in five
 * with tools drawn at random). As they are, an honest run is believed more than a poisoned one in .982 of all pairs
 * (AUC), and runs are believed by .954 where none is poisoned. Halved or doubled, each changes the AUC by .006 at the
 * most, except where another figure is given.
 */
export const DEFAULTS = {
  /** What a failed run counts for: its tools may still have been the right ones. Public sets have no failures. */
  failed: 0.4,
  /** Other runs that are heard: enough for a kind of work, few enough for a long past; AUC within .0001. */
  neighbours: 20,
  /** Cosine of intents from which another run is heard, fully at 1. Unrelated intents lie below; halved: -.004. */
  near: 0.4,
  /** Voices for a tool that confirm it by 63 %: one much alike run, or a few that are less so. */
  support: 0.3,
  /** Voices there must be before their silence about a tool counts, by 63 %: more than one run. */
  evidence: 1.5,
  /** Weight of what similar runs used beside the text. Doubled, poisoned runs confirm each other: -.005. */
  sayOfUse: 0.5,
  /** Runs at which that weight is half reached: fewer say too little of all kinds of work. */
  runsToSay: 100,
  /** Sharpness of the kernel over intents: e^(12 (cos - 1)) is half at a cosine of .94. */
  sharpness: 12,
  /** Added to a tool's share before its logarithm is taken: about one use in a thousand runs. */
  leastSay: 1e-3,
  /** Fit of tool and intent, in standard deviations over all tools, at which a tool half fits. Doubled: -.045. */
  halfFit: 1.5,
  /** How fast the fit grows around it: from .12 to .88 within two deviations. Doubled: -.004. */
  steepness: 2,
  /** Usual fit at which texts say nothing: with these two above, tools drawn at random come to .1 to .15. */
  chanceFit: 0.1,
  /** Usual fit from which texts are trusted: all six sets lie above, so neither bound changes their figures. */
  tellingFit: 0.3,
  /** Share of the usual fit from which a run's text is above suspicion. Halved: -.044, and .027 more belief. */
  usualFit: 0.7,
  /** Runs after which the usual fit is half known, so that the first few are believed. */
  runsToKnow: 20,
  /** In the second round, doubted runs are heard less; a third changes nothing. */
  rounds: 2,
  /** No run is shut out: new work is confirmed by nobody. */
  least: 0.05,
  /**
   * Mean doubts between which doubted runs come to teach less. Without poison the mean doubt is .05 over the sets
   * (.13 in the worst), with it .14 and more: below the first all runs teach in full, above the second as believed.
   */
  honestDoubt: 0.07,
  plainDoubt: 0.12,
};

export type WeighingOptions = typeof DEFAULTS;

/** Past runs as plain numbers; tools are places among the candidates. */
export interface RunsToWeigh {
  /** What each run used, without repeats. */
  readonly uses: readonly (readonly number[])[];
  readonly succeeded: readonly boolean[];
  /** Cosine of one run's intent and every run's. */
  similarities(run: number): ArrayLike<number>;
  /** Cosine of one run's intent and every candidate. */
  cosines(run: number): ArrayLike<number>;
  /** Runs that may not speak for `run`, besides itself: those of the same session, say. */
  isHidden?(run: number, other: number): boolean;
}

/** Another run that is heard, and how loudly, in (0, 1]. */
interface Voice {
  readonly run: number;
  readonly weight: number;
}

export interface RunWeights {
  /** How far each run is to be believed, in (0, 1]. */
  readonly beliefs: Float64Array;
  /** How much each run counts as an example to learn from, in (0, 1]. */
  readonly lessons: Float64Array;
}

/**
 * How far past runs are to be believed, against traces that are wrong by accident or by intent. A tool is
 * doubted as far as no similar run used it and the run's tools fit its intent worse than is usual here; both
 * only as far as there are runs to judge by, so that the first few are believed. A run is believed as its
 * tools are on average, and less if it failed. Every run is judged by the others alone (leave-one-out, as in
 * edited nearest neighbours: Wilson, 1972).
 *
 * Honest runs that are hard to foretell are doubted, too, and teach the most: what is doubted teaches less
 * only where more is doubted than honest work gives cause for.
 */
export function weighRuns(runs: RunsToWeigh, options: Partial<WeighingOptions> = {}): RunWeights {
  const settings = { ...DEFAULTS, ...options };
  const { uses, succeeded } = runs;
  const bySuccess = Float64Array.from(succeeded, (success) => (success ? 1 : settings.failed));
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

/** How well each candidate fits an intent: by its text, and the more runs there are, by what like runs used. */
function fitScores(
  uses: RunsToWeigh['uses'],
  cosines: ArrayLike<number>,
  similarities: ArrayLike<number>,
  isHeard: IsHeard,
  { sayOfUse, runsToSay, sharpness, leastSay }: WeighingOptions,
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
  const byUse = standardised(says.map((say) => Math.log(leastSay + say / (total || 1))));
  const trustInUse = sayOfUse * grown(uses.length, runsToSay);
  return byText.map((score, i) => score + trustInUse * byUse[i]!);
}

/**
 * How well the tools fit, in [0, 1]: the mean over them of a logistic of their standard score among all
 * candidates, which means the same whatever model embedded them; 1 for no tools.
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

/** How much it says that nobody bears the run's tools out, in [0, 1]: the mean over its tools. */
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

/** Half of 1 at `half`, and ever nearer to it. */
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
