import type { NextFigures, RankingFigures } from '../../vocabulary/evaluation-report.ts';

/** For each correct tool, the indices of all tools that count as it. */
export type Gold = readonly (readonly number[])[];

/**
 * The rank of each correct tool, from 1: tools are ordered by score, ties by index.
 * Infinity for a tool that is not ranked.
 */
export function ranksOf(scores: ArrayLike<number>, gold: Gold): number[] {
  return gold.map((accepted) => {
    const rank = accepted.map((tool) => rankOf(scores, tool));
    return Math.min(Number.POSITIVE_INFINITY, ...rank);
  });
}

function rankOf(scores: ArrayLike<number>, tool: number): number {
  const own = scores[tool]!;
  let rank = 1;
  for (let i = 0; i < scores.length; i++) {
    if (scores[i]! > own || (scores[i] === own && i < tool)) rank++;
  }
  return rank;
}

/** `tasks` has the ranks of the correct tools of each task. */
export function rankingFigures(tasks: readonly (readonly number[])[]): RankingFigures {
  return {
    ...nextFigures(tasks.map((ranks) => Math.min(...ranks))),
    recall5: mean(tasks.map((ranks) => ranks.filter((rank) => rank <= 5).length / ranks.length)),
    ndcg10: mean(tasks.map(ndcg10)),
  };
}

/** `ranks` has the rank of the single correct answer in each case. */
export function nextFigures(ranks: readonly number[]): NextFigures {
  return {
    mrr: mean(ranks.map((rank) => 1 / rank)),
    hit1: mean(ranks.map((rank) => Number(rank <= 1))),
    hit3: mean(ranks.map((rank) => Number(rank <= 3))),
  };
}

/** Järvelin & Kekäläinen, 2002, with gain 1 for each correct tool. */
export function ndcg10(ranks: readonly number[]): number {
  const gains = (places: readonly number[]) =>
    places.reduce((sum, rank) => sum + (rank <= 10 ? 1 / Math.log2(rank + 1) : 0), 0);
  return gains(ranks) / gains(ranks.map((_, i) => i + 1));
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
