import { TopK } from '../numeric/top-k.ts';

const DEFAULTS = {
  /** Past intents that vote. */
  nearest: 10,
  /** A vote's weight is the similarity to this power: near intents outweigh many far ones. */
  power: 4,
};

/** What was used for each past intent, by place among the candidates, and which intents to look away from. */
export interface PastUses {
  /** Candidates. */
  readonly size: number;
  /** One list per past intent, without repeats. */
  readonly uses: readonly (readonly number[])[];
  /** How much each of them is to be believed; absent: all alike. */
  readonly weights?: ArrayLike<number>;
  /** So that a past run cannot vouch for itself. */
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
  /** Of the past intents that used a candidate, the greatest similarity to the query; 0 without any. */
  readonly greatest: Float64Array;
  readonly mean: Float64Array;
  /** How many there are. */
  readonly count: Float64Array;
}

/** How alike the query and the past intents are for which each candidate was used. */
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
