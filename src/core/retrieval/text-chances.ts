/** The chance of a tool to be right, by its text: a logistic of score and rank. */
export interface TextChances {
  readonly bias: number;
  readonly score: number;
  /** Of the logarithm of its rank, from 1. */
  readonly rank: number;
}

/** Fitted on six public data sets. */
export const SHIPPED_TEXT_CHANCES: TextChances = { bias: -1.7, score: 5.99, rank: -1.08 };

/** Chance below which a text says nothing. */
export const LEAST_TEXT_CHANCE = 0.4;

/** `rank` is that among all candidates by their scores, from 1. */
export function textChance(chances: TextChances, score: number, rank: number): number {
  return 1 / (1 + Math.exp(-(chances.bias + chances.score * score + chances.rank * Math.log(rank))));
}
