import { expect, test } from 'vitest';
import { type KindsOfWork, kindsOfWork } from '../../../../test/support/kinds-of-work.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { createRandom } from '../../numeric/random.ts';
import { mean, rankingFigures, ranksOf } from '../gate/metrics.ts';
import { BilinearTerm } from '../terms/bilinear-term.ts';
import { Candidates } from './candidates.ts';
import { type LearnableRun, learnRanker } from './learn-ranker.ts';
import { type ModelChoice, OPTIONAL_TERMS } from './model-choice.ts';
import { decodeParams } from './params-file.ts';
import { RankLearner } from './rank-learner.ts';
import { readRankModel } from './rank-model.ts';
import type { Ranker } from './ranker.ts';

const multiplier = new WasmMultiplier();

function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function learnerOf({ tools, dimension }: KindsOfWork, runs: readonly LearnableRun[]): RankLearner {
  const learner = new RankLearner({ embedding: 'tiny', dimension, seed: 1, multiplier });
  learner.offer(tools, []);
  learner.recall(runs);
  return learner;
}

function rankerOf({ tools, dimension }: KindsOfWork, runs: readonly LearnableRun[]): Ranker {
  const candidates = new Candidates(tools, [], dimension);
  return finished(learnRanker({ candidates, runs, multiplier, seed: 1 })).ranker;
}

function mrr(ranker: Ranker, queries: readonly LearnableRun[]): number {
  const tasks = queries.map((query) => {
    const right = ranker.candidates.placesOf(query.uses).map((place) => [place]);
    return ranksOf(ranker.rank(query).logits, right);
  });
  return rankingFigures(tasks).mrr;
}

test('[LEARN-1] before any training, tools keep the order of search', () => {
  const work = kindsOfWork({ tools: 40 });
  const ranker = rankerOf(work, work.runs(9));
  const inOrder = (scores: ArrayLike<number>) =>
    Array.from(scores, (_, place) => place).sort((a, b) => scores[b]! - scores[a]!);
  for (const query of work.runs(20)) {
    const { logits, text } = ranker.rank(query);
    expect(inOrder(logits)).toEqual(inOrder(text.fused));
  }
});

test('[LEARN-6] a run is evaluated with what was learned before it: runs of the same work count only afterwards', () => {
  const work = kindsOfWork({ kinds: 5 });
  const learner = learnerOf(
    work,
    Array.from({ length: 40 }, (_, i) => work.run(i % 4)),
  );
  expect(finished(learner.train()).runs).toBe(40);
  const judged = Array.from({ length: 8 }, () => learner.take(work.run(4))!.judged!.learned);
  expect(judged[0]).toBeLessThan(0.9);
  expect(Math.max(...judged)).toBe(1);
  expect(mean(judged.slice(-4))).toBeGreaterThan(1.5 * mean(judged.slice(0, 4)));
});

test.each<[string, ModelChoice, number]>([
  ['as it serves', {}, 8],
  ['with every term', { terms: OPTIONAL_TERMS }, 8],
  ['with adaptive heads', { heads: 'adaptive' }, 4],
])('[LEARN-24] a model is read as it was trained: %s', (_, model, heads) => {
  const work = kindsOfWork({ tools: 20 });
  const options = { embedding: 'tiny', dimension: work.dimension, seed: 1, multiplier };
  const learner = new RankLearner({ ...options, model });
  learner.offer(work.tools, []);
  learner.recall(work.runs(20));
  const { params } = finished(learner.train());
  const { values } = decodeParams(params);
  const read = readRankModel(multiplier, work.dimension, createRandom(2), values);
  expect(read.terms).toHaveLength(2 + (model.terms?.length ?? 0));
  expect(read.terms.find((term) => term instanceof BilinearTerm)?.heads).toBe(heads);
  for (const parameter of read.parameters) expect(parameter.values).toEqual(values.get(parameter.name));
  // A learner with another configuration still loads it and continues learning.
  const other = new RankLearner(options);
  other.offer(work.tools, []);
  other.recall(work.runs(20));
  other.load(params);
  expect(other.take(work.run())?.loss).toBeGreaterThanOrEqual(0);
});

test('[LEARN-6] failed runs, and runs with unknown tools, are not evidence', () => {
  const work = kindsOfWork();
  const learner = learnerOf(work, work.runs(30));
  finished(learner.train());
  expect(learner.take({ ...work.run(), succeeded: false })).toMatchObject({ judged: null });
  expect(learner.take({ ...work.run(), uses: ['gone:tool'] })).toBeNull();
});

test('[LEARN-7] tools of past runs come first where no text helps, and tools added later are ranked at once', () => {
  const work = kindsOfWork({ tools: 40, kinds: 6 });
  const ranker = rankerOf(work, work.runs(100));
  const queries = work.runs(60);
  const hybrid = queries.map((query) => {
    const right = ranker.candidates.placesOf(query.uses).map((place) => [place]);
    return ranksOf(ranker.rank(query).text.fused, right);
  });
  expect(mrr(ranker, queries)).toBeGreaterThan(rankingFigures(hybrid).mrr + 0.5);

  const learner = learnerOf(work, work.runs(30));
  finished(learner.train());
  learner.offer([...work.tools, { ...work.tools[0]!, id: 'new:tool', server: 'new' }], []);
  const taken = learner.take({ ...work.run(), uses: ['new:tool'] });
  expect(taken?.loss).toEqual(expect.any(Number));
});

test('[LEARN-11] a run in five with wrong tools is trusted far less, and costs at most .02 of the mean reciprocal rank', () => {
  const losses = [1, 4].map((seed) => {
    const work = kindsOfWork({ seed, tools: 40, kinds: 8, dimension: 32, spread: 1.2 });
    const runs = work.runs(160);
    const poisoned = work.poisoned(runs, 0.2);
    const queries = work.runs(100);
    const [clean, wronged] = [rankerOf(work, runs), rankerOf(work, poisoned)];
    const isWrong = poisoned.map(({ uses }, i) => uses[0] !== runs[i]!.uses[0]);
    const belief = (wrong: boolean) => mean(wronged.past.weights.filter((_, i) => isWrong[i] === wrong));
    expect(belief(true)).toBeLessThan(0.6 * belief(false));
    expect(mrr(clean, queries)).toBeGreaterThan(0.9);
    return mrr(clean, queries) - mrr(wronged, queries);
  });
  expect(mean(losses)).toBeLessThanOrEqual(0.02);
});
