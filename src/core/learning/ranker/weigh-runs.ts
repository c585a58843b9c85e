import { TopK } from '../../numeric/top-k.ts';
import { standardised } from '../../numeric/vectors.ts';

/** Looked at with one run in five poisoned, on six sets; none of them is sharp. */
const DEFAULTS = {
  /** What a failed run counts for beside one that succeeded: its tools may still have been the right ones. */
  failed: 0.4,
  /** Other runs that are heard. */
  neighbours: 20,
  /** Similarity of intents from which another run is heard; it is fully heard at 1. */
  near: 0.4,
  /** Voices for a tool that bear it out by 63 %: one run that is much alike, or a few that are less so. */
  support: 0.3,
  /** Voices there must be before their silence about a tool counts: it then does by 63 %. */
  evidence: 1.5,
  /** What like runs used counts this much beside the text, as runs become many; after so many it does by half. */
  sayOfUse: 0.5,
  runsToSay: 100,
  /** Sharpness of the kernel by which runs of like intents have that say. */
  sharpness: 12,
  /** Added to a tool's share of that say before its logarithm is taken. */
  leastSay: 1e-3,
  /** Fit of tool and intent, in standard deviations over all tools, at which a tool half fits. */
  halfFit: 1.5,
  /** How fast the fit grows around it, per standard deviation. */
  steepness: 2,
  /** Fit of tools drawn at random: where no more than this is usual, texts tell nothing. */
  chanceFit: 0.1,
  /** Where this much is usual, texts are to be trusted. */
  tellingFit: 0.3,
  /** Share of the usual fit from which a run's text is above suspicion. */
  usualFit: 0.7,
  /** Runs after which what is usual is half known. */
  runsToKnow: 20,
  /** In the second round, runs that nobody bears out are themselves heard less. */
  rounds: 2,
  /** No run is shut out: what is new is borne out by nobody. */
  least: 0.05,
  /** Mean doubt that honest work gives cause for, and the one from which doubted runs teach no more than believed. */
  honestDoubt: 0.07,
  plainDoubt: 0.12,
};

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
export function weighRuns(runs: RunsToWeigh): RunWeights {
  const { uses, succeeded } = runs;
  const bySuccess = Float64Array.from(succeeded, (success) => (success ? 1 : DEFAULTS.failed));
  const judged = uses.map((tools, run) => {
    const similarities = runs.similarities(run);
    const others = (other: number) => other !== run && !runs.isHidden?.(run, other);
    return {
      voices: voicesFor(uses.length, similarities, others),
      fit: fitOf(tools, fitScores(uses, runs.cosines(run), similarities, others)),
    };
  });
  const usual = judged.map(({ fit }) => fit).toSorted((a, b) => a - b)[judged.length >> 1] || 1;
  const { chanceFit, tellingFit, usualFit, runsToKnow } = DEFAULTS;
  const trustInFit = between(usual, chanceFit, tellingFit);
  const doubtOfMisfit = trustInFit * usual * grown(uses.length, runsToKnow);

  let doubts = new Float64Array(uses.length);
  for (let round = 0; round < DEFAULTS.rounds; round++) {
    const heard = bySuccess.map((weight, run) => weight * (1 - doubts[run]!));
    doubts = doubts.map((_, run) => {
      const { voices, fit } = judged[run]!;
      const silence = silenceOf(uses, run, voices, doubtOfMisfit, heard);
      const misfit = 1 - trustInFit * Math.min(1, fit / (usualFit * usual)) ** 2;
      return Math.min(1 - DEFAULTS.least, silence * misfit);
    });
  }
  const caution = between(meanOf(doubts), DEFAULTS.honestDoubt, DEFAULTS.plainDoubt);
  return {
    beliefs: bySuccess.map((weight, run) => weight * (1 - doubts[run]!)),
    lessons: bySuccess.map((weight, run) => weight * (1 - caution * doubts[run]!)),
  };
}

type IsHeard = (other: number) => boolean;

function voicesFor(count: number, similarities: ArrayLike<number>, isHeard: IsHeard): Voice[] {
  const { neighbours, near } = DEFAULTS;
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
): Float64Array {
  const { sayOfUse, runsToSay, sharpness, leastSay } = DEFAULTS;
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
function fitOf(tools: readonly number[], scores: Float64Array): number {
  if (tools.length === 0) return 1;
  const standard = standardised(scores);
  const { steepness, halfFit } = DEFAULTS;
  return meanOf(tools.map((tool) => 1 / (1 + Math.exp(-steepness * (standard[tool]! - halfFit)))));
}

/** How much it says that nobody bears the run's tools out, in [0, 1]: the mean over its tools. */
function silenceOf(
  uses: RunsToWeigh['uses'],
  run: number,
  voices: readonly Voice[],
  doubtOfMisfit: number,
  heard: Float64Array,
): number {
  const volume = (those: readonly Voice[]) =>
    those.reduce((sum, voice) => sum + voice.weight * heard[voice.run]!, 0);
  const evidence = saturate(volume(voices), DEFAULTS.evidence);
  const ground = 1 - (1 - evidence) * (1 - doubtOfMisfit);
  const silences = uses[run]!.map((tool) => {
    const support = volume(voices.filter((voice) => uses[voice.run]!.includes(tool)));
    return ground * (1 - saturate(support, DEFAULTS.support));
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
