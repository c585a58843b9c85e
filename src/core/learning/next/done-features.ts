import { logOdds } from '../../numeric/log-odds.ts';
import type { FollowStatistics } from './follow-statistics.ts';
import { yesFeatures } from './yes-or-no.ts';

/** What speaks for a run to be over. */
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
