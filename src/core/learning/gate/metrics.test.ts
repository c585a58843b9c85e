import { expect, test } from 'vitest';
import { nextFigures, rankingFigures, ranksOf } from './metrics.ts';

test('[EVAL-3] a rank counts the tools before it, by score and then by position', () => {
  const scores = [0.5, 0.9, 0.5, -1];
  expect(ranksOf(scores, [[1], [0], [2], [3]])).toEqual([1, 2, 3, 4]);
});

test('[EVAL-3] a tool that is equivalent to the correct one is accepted for it; a tool that is not ranked is never found', () => {
  expect(ranksOf([0.1, 0.9, 0.5], [[0, 2], []])).toEqual([2, Number.POSITIVE_INFINITY]);
});

test('[EVAL-3] ranking figures follow their definitions', () => {
  const { mrr, hit1, hit3, recall5, ndcg10 } = rankingFigures([
    [1, 6],
    [4, 2, 12],
  ]);
  expect(mrr).toBeCloseTo((1 + 1 / 2) / 2, 12);
  expect({ hit1, hit3 }).toEqual({ hit1: 0.5, hit3: 1 });
  expect(recall5).toBeCloseTo((1 / 2 + 2 / 3) / 2, 12);
  const gain = (rank: number) => 1 / Math.log2(rank + 1);
  const first = (gain(1) + gain(6)) / (gain(1) + gain(2));
  const second = (gain(4) + gain(2)) / (gain(1) + gain(2) + gain(3));
  expect(ndcg10).toBeCloseTo((first + second) / 2, 12);
});

test('[EVAL-3] tools that are never found score 0, and all in first place score 1', () => {
  const never = Number.POSITIVE_INFINITY;
  expect(rankingFigures([[never, never]])).toEqual({ mrr: 0, hit1: 0, hit3: 0, recall5: 0, ndcg10: 0 });
  expect(rankingFigures([[3, 1, 2]])).toEqual({ mrr: 1, hit1: 1, hit3: 1, recall5: 1, ndcg10: 1 });
  const fifteen = Array.from({ length: 15 }, (_, i) => i + 1);
  expect(rankingFigures([fifteen]).ndcg10).toBeCloseTo(1, 12);
  expect(nextFigures([])).toEqual({ mrr: 0, hit1: 0, hit3: 0 });
});
