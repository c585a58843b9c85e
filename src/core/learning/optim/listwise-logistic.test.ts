import { expect, test } from 'vitest';
import { standardised } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { fitListwise, type ListwiseExample, linearScores } from './listwise-logistic.ts';

const CANDIDATES = 12;
const TRUTH = [2, -1, 0.5];
const RIDGE = 1e-3;

/** Queries whose correct candidates are drawn by softmax of known weights. */
function examples(count: number, seed: number): ListwiseExample[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const features = TRUTH.map(() => Float64Array.from({ length: CANDIDATES }, () => random.normal()));
    const scores = linearScores(features, TRUTH);
    const draw = () => -Math.log(-Math.log(1 - random.next()));
    const drawn = scores.map((score) => score + draw());
    const order = [...drawn.keys()].sort((i, j) => drawn[j]! - drawn[i]!);
    return { features, positives: order.slice(0, 1 + random.int(2)) };
  });
}

/** The loss by its definition, in plain sums. */
function loss(all: readonly ListwiseExample[], weights: readonly number[]): number {
  const perQuery = all.map(({ features, positives }) => {
    const scores = linearScores(features, weights);
    const wrong = scores.reduce((sum, score, i) => (positives.includes(i) ? sum : sum + Math.exp(score)), 0);
    return (
      positives.reduce((sum, p) => sum + Math.log(1 + wrong / Math.exp(scores[p]!)), 0) / positives.length
    );
  });
  const ridge = RIDGE * weights.reduce((sum, weight) => sum + weight * weight, 0);
  return perQuery.reduce((sum, value) => sum + value, 0) / all.length + ridge;
}

test('[EVAL-9] the weights found are a minimum of the loss: it rises in every direction', () => {
  const all = examples(60, 1);
  const weights = fitListwise(all, [0, 0, 0]);
  const least = loss(all, weights);
  for (const [k] of weights.entries()) {
    for (const step of [-1e-2, 1e-2]) {
      const other = weights.map((weight, l) => (l === k ? weight + step : weight));
      expect(loss(all, other)).toBeGreaterThan(least);
    }
    const slope = (side: number) =>
      loss(
        all,
        weights.map((weight, l) => (l === k ? weight + side * 1e-5 : weight)),
      );
    expect(Math.abs(slope(1) - slope(-1)) / 2e-5).toBeLessThan(2e-3);
  }
});

test('[EVAL-9] the weights that generated the queries are recovered, from any start', () => {
  const all = examples(2_000, 2);
  const near = fitListwise(all, [0, 0, 0]);
  const far = fitListwise(all, [-10, 10, 10]);
  for (const [k, truth] of TRUTH.entries()) {
    expect(near[k]).toBeCloseTo(far[k]!, 1);
    expect(Math.sign(near[k]!)).toBe(Math.sign(truth));
    expect(Math.abs(near[k]! - truth)).toBeLessThan(0.4);
  }
});

test('[EVAL-9] a feature that is always 0 changes nothing, and neither do no examples', () => {
  const all = examples(40, 3).map((example) => ({
    ...example,
    features: [...example.features, new Float64Array(CANDIDATES)],
  }));
  expect(fitListwise(all, [0, 0, 0, 0])[3]).toBe(0);
  expect(fitListwise([], [1, 2]).map(Number.isNaN)).toEqual([false, false]);
});

test('[EVAL-9] values are standardised; equal ones become 0', () => {
  expect([...standardised([1, 3])]).toEqual([-1, 1]);
  expect([...standardised([5, 5, 5])]).toEqual([0, 0, 0]);
});
