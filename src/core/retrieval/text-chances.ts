/** The chance of a tool to be right, by its text: a logistic of score, rank and lead. */
export interface TextChances {
  readonly bias: number;
  readonly score: number;
  /** Of the logarithm of its rank, from 1. */
  readonly rank: number;
  /** Of how far the best one is ahead of the second. */
  readonly lead: number;
}

/** Fitted on six public data sets. */
export const SHIPPED_TEXT_CHANCES: TextChances = { bias: -1.94, score: 5.59, rank: -0.78, lead: 11.45 };

/** Chance below which a text says nothing. */
export const LEAST_TEXT_CHANCE = 0.4;

/** Among few tools any can be far ahead, which says no more than this much. */
const MOST_LEAD = 0.15;

/** How far the first of scores is ahead, the greatest first; of one alone that says nothing. */
export function leadOf(scores: ArrayLike<number>): number {
  return scores.length < 2 ? 0 : Math.min(MOST_LEAD, scores[0]! - scores[1]!);
}

/** Of the tool at a place among scores, the greatest of all first. */
export function textChance(
  { bias, score, rank, lead }: TextChances,
  scores: ArrayLike<number>,
  place: number,
): number {
  const own = scores[place]!;
  const ahead = place === 0 ? leadOf(scores) : 0;
  return 1 / (1 + Math.exp(-(bias + score * own + rank * Math.log(place + 1) + lead * ahead)));
}
