import { TopK } from '../numeric/top-k.ts';

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
  /** Similarity of tool and intent, in standard deviations over all tools, at which a tool half fits. */
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

/**
 * How far each past run is to be believed, in (0, 1], against traces that are wrong by accident or by
 * intent. A tool is doubted as far as no similar run used it and the run's tools fit its intent worse, by
 * their text, than is usual here; both only as far as there are runs to judge by, so that the first few
 * are believed. A run is believed as its tools are on average, and less if it failed. Every run is judged
 * by the others alone (leave-one-out, as in edited nearest neighbours: Wilson, 1972).
 */
export function weighRuns(runs: RunsToWeigh): Float64Array {
  const { uses, succeeded } = runs;
  const bySuccess = Float64Array.from(succeeded, (success) => (success ? 1 : DEFAULTS.failed));
  const voices = uses.map((_, run) => voicesFor(runs, run));
  const fits = uses.map((tools, run) => fitOf(tools, runs.cosines(run)));
  const usual = fits.toSorted((a, b) => a - b)[fits.length >> 1] || 1;
  const { chanceFit, tellingFit, usualFit, runsToKnow } = DEFAULTS;
  const trustInText = Math.min(1, Math.max(0, (usual - chanceFit) / (tellingFit - chanceFit)));
  const doubtOfMisfit = (trustInText * usual * uses.length) / (uses.length + runsToKnow);

  let weights = bySuccess;
  for (let round = 0; round < DEFAULTS.rounds; round++) {
    const heard = weights;
    weights = bySuccess.map((weight, run) => {
      const silence = silenceOf(uses, run, voices[run]!, doubtOfMisfit, heard);
      const misfit = 1 - trustInText * Math.min(1, fits[run]! / (usualFit * usual)) ** 2;
      return weight * Math.max(DEFAULTS.least, 1 - silence * misfit);
    });
  }
  return weights;
}

function voicesFor({ uses, similarities, isHidden }: RunsToWeigh, run: number): Voice[] {
  const { neighbours, near } = DEFAULTS;
  const cosines = similarities(run);
  const nearest = new TopK(neighbours);
  for (let other = 0; other < uses.length; other++) {
    const cosine = cosines[other]!;
    if (cosine > near && other !== run && !isHidden?.(run, other)) nearest.offer(other, cosine);
  }
  return nearest
    .sorted()
    .map(({ row, score }) => ({ run: row, weight: Math.min(1, (score - near) / (1 - near)) }));
}

/**
 * How well the tools fit the intent by their text, in [0, 1]: the mean over them of a logistic of their
 * standard score among all candidates, which means the same whatever model embedded them; 1 for no tools.
 */
function fitOf(tools: readonly number[], cosines: ArrayLike<number>): number {
  if (tools.length === 0) return 1;
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < cosines.length; i++) {
    sum += cosines[i]!;
    squares += cosines[i]! ** 2;
  }
  const mean = sum / cosines.length;
  const deviation = Math.sqrt(squares / cosines.length - mean ** 2) || 1;
  const fits = tools.map((tool) => {
    const score = (cosines[tool]! - mean) / deviation;
    return 1 / (1 + Math.exp(-DEFAULTS.steepness * (score - DEFAULTS.halfFit)));
  });
  return meanOf(fits);
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

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
