import { TopK } from '../numeric/top-k.ts';

const DEFAULTS = {
  /** Number of past intents that vote. */
  nearest: 10,
  /** A vote's weight is the similarity to this power, so that near intents outweigh many distant ones. */
  power: 4,
};

/** The candidates that each past intent used, by index, and which intents to ignore. */
export interface PastUses {
  /** Number of candidates. */
  readonly size: number;
  /** One list of candidates per past intent, without repeats. */
  readonly uses: readonly (readonly number[])[];
  /** Weight of each past intent; equal weights if absent. */
  readonly weights?: ArrayLike<number>;
  /** Hides intents, so that a past run is never evidence for itself. */
  readonly isHidden?: (intent: number) => boolean;
}

/** One value per candidate: the votes of the past intents most similar to the query. */
export function nearestVotes(similarities: ArrayLike<number>, past: PastUses): Float64Array {
  const { size, uses, weights, isHidden } = past;
  const nearest = new TopK(DEFAULTS.nearest);
  for (let i = 0; i < uses.length; i++) {
    if (similarities[i]! > 0 && !isHidden?.(i)) nearest.offer(i, similarities[i]!);
  }
  const votes = new Float64Array(size);
  for (const { row, score } of nearest.sorted()) {
    const vote = score ** DEFAULTS.power * (weights?.[row] ?? 1);
    for (const candidate of uses[row]!) votes[candidate]! += vote;
  }
  return votes;
}

export interface UserSimilarity {
  /** Per candidate, the greatest similarity of the query to a past intent that used it; 0 if none did. */
  readonly greatest: Float64Array;
  readonly mean: Float64Array;
  /** Number of past intents that used the candidate. */
  readonly count: Float64Array;
}

/** Similarity of the query to the past intents that used each candidate. */
export function similarityToUsers(similarities: ArrayLike<number>, past: PastUses): UserSimilarity {
  const { size, uses, isHidden } = past;
  const greatest = new Float64Array(size);
  const mean = new Float64Array(size);
  const count = new Float64Array(size);
  for (let i = 0; i < uses.length; i++) {
    if (isHidden?.(i)) continue;
    const similarity = similarities[i]!;
    for (const candidate of uses[i]!) {
      if (count[candidate] === 0 || similarity > greatest[candidate]!) greatest[candidate] = similarity;
      mean[candidate]! += similarity;
      count[candidate]!++;
    }
  }
  for (let i = 0; i < size; i++) if (count[i]! > 0) mean[i]! /= count[i]!;
  return { greatest, mean, count };
}
