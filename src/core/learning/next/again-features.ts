import { logOdds } from '../../numeric/log-odds.ts';
import { type FollowStatistics, streakOf } from './follow-statistics.ts';
import { followersHere } from './followers-here.ts';
import { yesFeatures } from './yes-or-no.ts';

/** What speaks for the last call to be made once more. */
export const AGAIN_FEATURES = ['constant', 'streaks', 'streak', 'here', 'others_here'] as const;

export type AgainFeature = (typeof AGAIN_FEATURES)[number];

/** [2 x AGAIN_FEATURES] */
export function againFeatures({ again }: FollowStatistics, before: readonly number[]): Float32Array {
  const here = followersHere(before);
  const last = before.at(-1)!;
  let others = 0;
  for (const [place, share] of here) if (place !== last && share > others) others = share;
  return yesFeatures(AGAIN_FEATURES, {
    constant: 1,
    streaks: logOdds(again),
    streak: Math.log(streakOf(before)),
    here: here.get(last) ?? 0,
    others_here: others,
  });
}
