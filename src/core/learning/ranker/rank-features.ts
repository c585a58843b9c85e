import { momentsOf } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';
import { nearestVotes, type PastUses, similarityToUsers } from '../../retrieval/past-intents.ts';
import type { TextScores } from '../../retrieval/text-scores.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { PastRuns } from './past-runs.ts';

const DEFAULTS = {
  /** Sharpness of the two softmax kernels over past intents. */
  warm: 10,
  hot: 25,
  /** Added to a share before its logarithm: for votes, and for a server's votes. */
  leastVote: 1e-3,
  leastServer: 0.02,
  /** Sharpness of the softmax over text fits in co-use. */
  coUse: 2.5,
  /** Past intents whose mean similarity shows how well this kind of query is known. */
  nearIntents: 5,
};

/**
 * Evidence for a candidate, each feature standardised per query over all candidates. The first is the score of
 * search without learning, so that weight on it alone ranks exactly like search.
 */
export const FEATURES = [
  'hybrid',
  'whole',
  'lexical',
  'votes',
  'lexical_votes',
  'nearest_user',
  'mean_user',
  'popularity',
  'clause',
  'lexical_user',
  'clause_user',
  'name',
  'server_text',
  'server_votes',
  'warm_votes',
  'hot_votes',
  'co_use',
] as const;

/** How far the features can be trusted; not standardised, for the hidden layer only. */
export const SITUATION = [
  'nearest_user',
  'is_used',
  'nearest_intent',
  'near_intents',
  'runs',
  'best_whole',
  'best_lexical',
  'clause',
] as const;

/** Columns of a feature row. */
export const WIDTH = FEATURES.length + SITUATION.length;

export type Feature = (typeof FEATURES)[number];
type Situation = (typeof SITUATION)[number];

/** [candidates x WIDTH], row-major. Hidden runs are ignored. */
export function rankFeatures(
  query: Pick<IntentForms, 'intent' | 'clauses' | 'words'>,
  text: TextScores,
  candidates: Candidates,
  past: PastRuns,
  isHidden: (run: number) => boolean = () => false,
): Float32Array {
  const { whole, clause, lexical, fused } = text;
  const seen: PastUses = { size: candidates.size, uses: past.uses, weights: past.weights, isHidden };
  const cosines = past.cosines(query.intent);
  const likeness = past.lexicalLikeness(query.words);
  const byMeaning = similarityToUsers(cosines, seen);
  const byWords = similarityToUsers(likeness, seen);
  const votes = nearestVotes(cosines, seen);
  const columns: Record<Feature, Float64Array> = {
    hybrid: fused,
    whole,
    lexical,
    votes,
    lexical_votes: nearestVotes(likeness, seen),
    nearest_user: byMeaning.greatest,
    mean_user: byMeaning.mean,
    popularity: byMeaning.count.map(Math.log1p),
    clause,
    lexical_user: byWords.greatest,
    clause_user: past.clauseUsers(query.clauses, isHidden),
    name: namesIn(query.words, candidates),
    server_text: bestOfServer(
      candidates,
      whole.map((cosine, i) => (cosine + clause[i]!) / 2),
    ),
    server_votes: shareOfServer(candidates, votes),
    warm_votes: kernelVotes(cosines, seen, DEFAULTS.warm),
    hot_votes: kernelVotes(cosines, seen, DEFAULTS.hot),
    co_use: coUse(
      whole.map((cosine, i) => cosine + clause[i]!),
      seen,
    ),
  };
  const rows = new Float32Array(candidates.size * WIDTH);
  for (const [k, name] of FEATURES.entries()) writeStandardised(columns[name], rows, k);
  writeSituation(columns, byMeaning.count, cosines, seen, rows);
  return rows;
}

/** The share of a name's words that the query contains. */
function namesIn(words: readonly string[], { size, names, placesByWord }: Candidates): Float64Array {
  const said = new Float64Array(size);
  for (const word of new Set(words)) {
    for (const place of placesByWord.get(word) ?? []) said[place]!++;
  }
  return said.map((count, i) => (count === 0 ? 0 : count / names[i]!.length));
}

function bestOfServer({ servers, serverCount }: Candidates, values: Float64Array): Float64Array {
  const best = new Float64Array(serverCount).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < values.length; i++) {
    const server = servers[i]!;
    if (values[i]! > best[server]!) best[server] = values[i]!;
  }
  return values.map((_, i) => best[servers[i]!]!);
}

function shareOfServer({ servers, serverCount }: Candidates, votes: Float64Array): Float64Array {
  const sums = new Float64Array(serverCount);
  let total = 0;
  for (let i = 0; i < votes.length; i++) {
    sums[servers[i]!]! += votes[i]!;
    total += votes[i]!;
  }
  const shares = sums.map((sum) => Math.log(DEFAULTS.leastServer + sum / (total || 1)));
  return votes.map((_, i) => shares[servers[i]!]!);
}

/** log of the share of past runs that used a candidate, each weighted by softmax(temperature x cosine). */
function kernelVotes(cosines: Float32Array, past: PastUses, temperature: number): Float64Array {
  const { size, uses, weights, isHidden } = past;
  const votes = new Float64Array(size);
  let total = 0;
  for (let i = 0; i < uses.length; i++) {
    if (isHidden?.(i)) continue;
    const kernel = Math.exp(temperature * (cosines[i]! - 1)) * (weights?.[i] ?? 1);
    total += kernel;
    for (const place of uses[i]!) votes[place]! += kernel;
  }
  return logShares(votes, total);
}

/**
 * One hop over past runs: the weight of a run is the fit of its tools to the text (per square root of their number,
 * so that long runs do not win by length), and it votes for all its tools with the square of that weight.
 */
function coUse(fit: Float64Array, past: PastUses): Float64Array {
  const { size, uses, weights, isHidden } = past;
  const chances = softmaxOfStandardised(fit, DEFAULTS.coUse);
  const votes = new Float64Array(size);
  for (let i = 0; i < uses.length; i++) {
    if (isHidden?.(i) || uses[i]!.length === 0) continue;
    let near = 0;
    for (const place of uses[i]!) near += chances[place]!;
    const vote = (near * near * (weights?.[i] ?? 1)) / uses[i]!.length;
    for (const place of uses[i]!) votes[place]! += vote;
  }
  return logShares(
    votes,
    votes.reduce((sum, vote) => sum + vote, 0),
  );
}

function logShares(votes: Float64Array, total: number): Float64Array {
  return votes.map((vote) => Math.log(DEFAULTS.leastVote + (total > 0 ? vote / total : 0)));
}

function softmaxOfStandardised(values: Float64Array, sharpness: number): Float64Array {
  const { mean, deviation } = momentsOf(values);
  if (deviation === 0) return values.map(() => 1 / values.length);
  const powers = values.map((value) => Math.exp((sharpness * (value - mean)) / deviation));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function writeStandardised(values: Float64Array, rows: Float32Array, column: number): void {
  const { mean, deviation } = momentsOf(values);
  if (deviation === 0) return;
  for (let i = 0; i < values.length; i++) rows[i * WIDTH + column] = (values[i]! - mean) / deviation;
}

/** Scaled by hand to about [-1, 1]. */
function writeSituation(
  columns: Readonly<Record<Feature, Float64Array>>,
  counts: Float64Array,
  cosines: Float32Array,
  { uses, isHidden }: PastUses,
  rows: Float32Array,
): void {
  const nearest = new TopK(DEFAULTS.nearIntents);
  let runs = 0;
  for (let i = 0; i < uses.length; i++) {
    if (isHidden?.(i)) continue;
    nearest.offer(i, cosines[i]!);
    runs++;
  }
  const near = nearest.sorted().map(({ score }) => score);
  const meanNear = near.reduce((sum, cosine) => sum + cosine, 0) / (near.length || 1);
  const [bestWhole, bestLexical] = [standardScoreOfBest(columns.whole), standardScoreOfBest(columns.lexical)];
  const write = (name: Situation, value: (place: number) => number) => {
    const column = FEATURES.length + SITUATION.indexOf(name);
    for (let i = 0; i < counts.length; i++) rows[i * WIDTH + column] = value(i);
  };
  write('nearest_user', (i) => 2 * columns.nearest_user[i]! - 1);
  write('is_used', (i) => (counts[i]! > 0 ? 1 : 0));
  write('nearest_intent', () => 2 * (near[0] ?? 0) - 1);
  write('near_intents', () => 2 * meanNear - 1);
  write('runs', () => Math.log1p(runs) / 7);
  write('best_whole', () => (bestWhole - 3) / 2);
  write('best_lexical', () => (bestLexical - 5) / 4);
  write('clause', (i) => 2 * columns.clause[i]! - 1);
}

function standardScoreOfBest(values: Float64Array): number {
  const { mean, deviation } = momentsOf(values);
  return deviation === 0 ? 0 : (values.reduce((best, value) => Math.max(best, value)) - mean) / deviation;
}
