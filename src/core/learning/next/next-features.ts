import { type Floats, logOdds, rowOf, standardised } from '../../numeric/matrices.ts';
import type { SearchWeights } from '../../retrieval/text-scores.ts';
import type { Candidates, IntentForms } from '../ranker/candidates.ts';
import { FEATURES, rankFeatures, SITUATION, WIDTH } from '../ranker/rank-features.ts';
import type { RankedCandidates } from '../ranker/rank-term.ts';
import {
  type FollowStatistics,
  followersHere,
  followStatistics,
  type PastSequences,
  streakOf,
} from './follow-statistics.ts';

const DEFAULTS = {
  /** Smaller probabilities, and smaller sums of probabilities, are not distinguished. */
  leastChance: 1e-3,
  leastSum: 0.05,
  /** How sharply the probabilities follow the mean score of text and similar runs, in standard deviations. */
  sharpness: 1.8,
};

/** Features of a candidate as the next step, besides those of the ranker. The last call is not a candidate. */
const STEP_FEATURES = [
  'follows',
  'follows_pair',
  'follows_warm',
  'follows_hot',
  'follows_akin',
  'follows_earlier',
  'later',
  'company',
  'place',
  'waiting',
  'like_last',
  'like_any',
  'server_last',
  'server_any',
  'is_used',
  'count',
  'here',
  'recent',
] as const;

/** Features that are the same for all candidates, for the hidden layer only. */
const STEP_SITUATION = ['step', 'distinct', 'streak', 'seen', 'left'] as const;

/** Features with a linear weight; these are the first columns. */
export const NEXT_FEATURES = [...FEATURES, ...STEP_FEATURES] as const;

/** Columns of a feature row. */
export const NEXT_WIDTH = NEXT_FEATURES.length + SITUATION.length + STEP_SITUATION.length;

export type NextFeature = (typeof NEXT_FEATURES)[number];

/** The part of a query that is the same at every step. */
export interface NextQuery {
  readonly intent: Float32Array;
  /** [candidates x WIDTH] from `rankFeatures`. */
  readonly rank: Float32Array;
  /** Cosines with past intents. */
  readonly cosines: Float32Array;
  /** For each candidate, the probability that the intent needs it: a rough estimate without training. */
  readonly chances: Float64Array;
  readonly isHidden: (run: number) => boolean;
}

export function nextQuery(
  query: IntentForms,
  candidates: Candidates,
  { past }: PastSequences,
  { weights, isHidden = () => false }: { weights?: SearchWeights; isHidden?: (run: number) => boolean } = {},
): NextQuery {
  const text = candidates.textScores(query, weights);
  const rank = rankFeatures(query, text, candidates, past, isHidden);
  return {
    intent: query.intent,
    rank,
    cosines: past.cosines(query.intent),
    chances: chancesOf(rank, candidates.size),
    isHidden,
  };
}

const HYBRID = FEATURES.indexOf('hybrid');
const VOTES = FEATURES.indexOf('hot_votes');

function chancesOf(rank: Float32Array, size: number): Float64Array {
  const powers = Float64Array.from({ length: size }, (_, i) =>
    Math.exp((DEFAULTS.sharpness * (rank[i * WIDTH + HYBRID]! + rank[i * WIDTH + VOTES]!)) / 2),
  );
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

export interface NextFeatures {
  /** [candidates x NEXT_WIDTH], row-major */
  readonly features: Float32Array;
  readonly statistics: FollowStatistics;
}

/** `before` has the indices of the tools called so far, in order, with repeats. */
export function nextFeatures(
  query: NextQuery,
  before: readonly number[],
  candidates: Candidates,
  history: PastSequences,
): NextFeatures {
  const likeness = likenessTo(before, candidates);
  const statistics = followStatistics(candidates.size, history, {
    ...query,
    before,
    likeness: likeness.get(before.at(-1)!) ?? [],
  });
  const columns = stepColumns(statistics, before, candidates, likeness);
  const situation = situationOf(statistics, before, query.chances);
  const features = new Float32Array(candidates.size * NEXT_WIDTH);
  for (let i = 0, at = 0; i < candidates.size; i++) {
    const own = query.rank.subarray(i * WIDTH, (i + 1) * WIDTH);
    for (let k = 0; k < FEATURES.length; k++) features[at++] = own[k]!;
    for (const column of columns) features[at++] = column[i]!;
    for (let k = FEATURES.length; k < WIDTH; k++) features[at++] = own[k]!;
    for (const value of situation) features[at++] = value;
  }
  return { features, statistics };
}

/** In the order of STEP_FEATURES. */
function stepColumns(
  statistics: FollowStatistics,
  before: readonly number[],
  { size, servers }: Candidates,
  likeness: Likeness,
): Float64Array[] {
  const last = before.at(-1) ?? -1;
  const counts = new Float64Array(size);
  for (const place of before) counts[place]!++;
  const called = new Set(before);
  const here = followersHere(before);
  const calledServers = new Set([...called].map((place) => servers[place]!));
  const each = (value: (i: number) => number) => Float64Array.from({ length: size }, (_, i) => value(i));
  const columns: Record<(typeof STEP_FEATURES)[number], Float64Array> = {
    follows: logarithms(statistics.follows),
    follows_pair: logarithms(statistics.followsPair),
    follows_warm: logarithms(statistics.followsWarm),
    follows_hot: logarithms(statistics.followsHot),
    follows_akin: logarithms(statistics.followsAkin),
    follows_earlier: logarithms(statistics.followsEarlier),
    later: logarithms(statistics.later),
    company: logarithms(statistics.company),
    place: logarithms(statistics.place),
    waiting: logarithms(statistics.waiting, DEFAULTS.leastSum),
    // Each tool is most similar to itself, which would hide how the others differ.
    like_last: standardised(each((i) => (i === last ? 0 : (likeness.get(last)?.[i] ?? 0)))),
    like_any: standardised(each((i) => likenessToOthers(likeness, i))),
    server_last: each((i) => Number(servers[i] === servers[last])),
    server_any: each((i) => Number(calledServers.has(servers[i]!))),
    is_used: each((i) => Number(called.has(i))),
    count: counts.map(Math.log1p),
    here: each((i) => here.get(i) ?? 0),
    recent: each((i) => (i === last || !called.has(i) ? 0 : 1 / (before.length - 1 - before.lastIndexOf(i)))),
  };
  return STEP_FEATURES.map((name) => columns[name]);
}

/** In the order of STEP_SITUATION, scaled by hand to about [-1, 1]. */
function situationOf({ seen }: FollowStatistics, before: readonly number[], chances: Float64Array): number[] {
  const called = new Set(before);
  const done = [...called].reduce((sum, place) => sum + chances[place]!, 0);
  const values: Record<(typeof STEP_SITUATION)[number], number> = {
    step: Math.log1p(before.length) / 2 - 0.5,
    distinct: Math.log1p(called.size) / 2 - 0.5,
    streak: Math.log1p(streakOf(before)) / 2 - 0.5,
    seen: Math.log1p(seen) / 3 - 0.5,
    left: 1 - 2 * done,
  };
  return STEP_SITUATION.map((name) => values[name]);
}

/** By called tool: its cosine with each candidate. */
type Likeness = ReadonlyMap<number, Float32Array>;

function likenessTo(before: readonly number[], candidates: Candidates): Likeness {
  return new Map(
    [...new Set(before)].map((place) => [place, candidates.cosines(rowOf(candidates.vectors, place))]),
  );
}

function likenessToOthers(likeness: Likeness, i: number): number {
  let best = 0;
  for (const [place, cosines] of likeness) if (place !== i && cosines[i]! > best) best = cosines[i]!;
  return best;
}

/** log(1 + value / least) / 2: maps probabilities to [0, 3.5]. */
function logarithms(values: Float64Array, least = DEFAULTS.leastChance): Float64Array {
  return values.map((value) => Math.log1p(value / least) / 2);
}

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
