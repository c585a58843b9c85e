import type { Floats } from '../../numeric/matrices.ts';
import { logOdds } from '../../numeric/matrices.ts';
import type { RankedCandidates } from '../ranker/rank-term.ts';
import { type FollowStatistics, followersHere, streakOf } from './follow-statistics.ts';

/** The two answers to a yes-or-no question, which differ in their features only. */
export const NO = 0;
export const YES = 1;
export const BINARY_LABELS: RankedCandidates = {
  size: 2,
  vectors: { rows: 0, columns: 0, values: new Float32Array(0) },
};

/** [2 x names]: the row of "no" is the baseline, all 0. */
function yesFeatures<Name extends string>(
  names: readonly Name[],
  values: Readonly<Record<Name, number>>,
): Float32Array {
  const features = new Float32Array(BINARY_LABELS.size * names.length);
  features.set(
    names.map((name) => values[name]),
    YES * names.length,
  );
  return features;
}

export function chanceOfYes(logits: Floats): number {
  return 1 / (1 + Math.exp(logits[NO]! - logits[YES]!));
}

/** Evidence that a run is complete. */
export const DONE_FEATURES = [
  'constant',
  'after_last',
  'at_step',
  'of_set',
  'steps',
  'done',
  'best_left',
  'company_left',
] as const;

export type DoneFeature = (typeof DONE_FEATURES)[number];

/** [2 x DONE_FEATURES] */
export function doneFeatures(
  { ends, company }: FollowStatistics,
  before: readonly number[],
  chances: Float64Array,
): Float32Array {
  const called = new Set(before);
  const left = (values: Float64Array) => values.map((value, i) => (called.has(i) ? 0 : value));
  const doneShare = [...called].reduce((sum, place) => sum + chances[place]!, 0);
  return yesFeatures(DONE_FEATURES, {
    constant: 1,
    after_last: logOdds(ends.afterLast),
    at_step: logOdds(ends.atStep),
    of_set: logOdds(ends.ofSet),
    steps: ends.usualSteps > 0 ? Math.log((before.length + 1) / (ends.usualSteps + 1)) : 0,
    done: 2 * doneShare - 1,
    best_left: 2 * left(chances).reduce((best, chance) => Math.max(best, chance), 0) - 1,
    company_left: left(company).reduce((sum, share) => sum + share, 0),
  });
}

/** Evidence that the last call is repeated. */
export const REPEAT_FEATURES = ['constant', 'streaks', 'streak', 'here', 'others_here'] as const;

export type RepeatFeature = (typeof REPEAT_FEATURES)[number];

/** [2 x REPEAT_FEATURES] */
export function repeatFeatures({ again }: FollowStatistics, before: readonly number[]): Float32Array {
  const here = followersHere(before);
  const last = before.at(-1)!;
  let others = 0;
  for (const [place, share] of here) if (place !== last && share > others) others = share;
  return yesFeatures(REPEAT_FEATURES, {
    constant: 1,
    streaks: logOdds(again),
    streak: Math.log(streakOf(before)),
    here: here.get(last) ?? 0,
    others_here: others,
  });
}
