import { expect, test } from 'vitest';
import { WasmMultiplier } from '../core/numeric/kernels.ts';
import { matrixOf, normalise, rowOf } from '../core/numeric/matrices.ts';
import { createRandom } from '../core/numeric/random.ts';
import { bilinearScores, trainBilinear } from './rank-by-logistic.ts';

const DIMENSION = 16;
const random = createRandom(7);
const unit = () => normalise(Float32Array.from({ length: DIMENSION }, () => random.normal()));

test('[EVAL-9] a bilinear score learns which tools belong to which intents, where the cosine has no information', () => {
  const topics = Array.from({ length: 4 }, unit);
  const tools = matrixOf(Array.from({ length: 8 }, unit), DIMENSION);
  const near = (topic: Float32Array) => normalise(topic.map((value) => value + 0.15 * random.normal()));
  const examples = Array.from({ length: 1280 }, (_, i) => ({
    intent: near(topics[i % 4]!),
    tools: [i % 4, 4 + (i % 4)],
  }));
  const multiplier = new WasmMultiplier();
  const weights = trainBilinear(examples, tools, multiplier, createRandom(1));
  const scores = bilinearScores(matrixOf(topics.map(near), DIMENSION), weights, tools, multiplier);
  for (const topic of topics.keys()) {
    const row = rowOf(scores, topic);
    const best = [...row.keys()].sort((i, j) => row[j]! - row[i]!).slice(0, 2);
    expect(best.sort()).toEqual([topic, topic + 4]);
  }
});

test('[EVAL-9] with nothing to learn from, the bilinear score ranks like the cosine', () => {
  const tools = matrixOf(Array.from({ length: 5 }, unit), DIMENSION);
  const intents = matrixOf([unit()], DIMENSION);
  const multiplier = new WasmMultiplier();
  const weights = trainBilinear([], tools, multiplier, createRandom(1));
  const cosines = rowOf(multiplier.timesTransposed(intents, tools), 0);
  const scores = rowOf(bilinearScores(intents, weights, tools, multiplier), 0);
  for (const [i, score] of scores.entries()) expect(score).toBeCloseTo(20 * cosines[i]!, 4);
});
