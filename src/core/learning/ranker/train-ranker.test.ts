import { describe, expect, test } from 'vitest';
import { kindsOfWork } from '../../../../test/support/kinds-of-work.ts';
import { createTinyRanking } from '../../../../test/support/tiny-ranking.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { createRandom } from '../../numeric/random.ts';
import { ranksOf } from '../gate/metrics.ts';
import { Candidates } from './candidates.ts';
import { learnRanker } from './learn-ranker.ts';
import { createRankModel } from './rank-model.ts';
import { EarlyStopping, learnFrom, type TrainingOptions, trainRanker } from './train-ranker.ts';

/** The loss after every tenth step of the training below. */
const COMMITTED_CURVE: readonly number[] = [2.1523, 0.4703, 0.0115, 0.0035, 0.004, 0.0044];

const DIMENSION = 12;

function trained(options: TrainingOptions) {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  const model = createRankModel(new WasmMultiplier(), DIMENSION, createRandom(3));
  const losses = [...trainRanker(model, candidates, examples, options)].map(({ loss }) => loss);
  return { model, losses, candidates, examples };
}

test('[RANK-11] the loss curve of a seed is the committed one', () => {
  const { losses } = trained({ seed: 5, steps: 60, rate: 0.01 });
  const curve = losses.filter((_, i) => i % 10 === 9);
  expect(curve).toHaveLength(COMMITTED_CURVE.length);
  for (const [i, loss] of curve.entries()) expect(loss).toBeCloseTo(COMMITTED_CURVE[i]!, 3);
});

test('[RANK-12] replay by loss trains as well, and the same seed gives the same result', () => {
  const options = { seed: 5, steps: 80, rate: 0.01, alpha: 0.6, batch: 4 };
  const { losses } = trained(options);
  expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
  expect(trained(options).losses).toEqual(losses);
});

test('[NEXT-8] a candidate that is left out neither competes nor teaches', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  const model = createRankModel(new WasmMultiplier(), DIMENSION, createRandom(3));
  const lossWith = (of: (typeof examples)[number]) => learnFrom(model, candidates, [of]).loss;
  const [first] = examples;
  const wrong = [...candidates.ids.keys()].find((place) => !first!.right.includes(place))!;
  const width = first!.features.length / candidates.size;
  const louder = { ...first!, features: first!.features.slice() };
  louder.features.fill(9, wrong * width, (wrong + 1) * width);
  expect(lossWith({ ...first!, leftOut: wrong })).toBeLessThan(lossWith(first!));
  expect(lossWith({ ...louder, leftOut: wrong })).toBe(lossWith({ ...first!, leftOut: wrong }));
  expect(lossWith(louder)).not.toBe(lossWith(first!));
});

describe('[RANK-13] early stopping', () => {
  test('ends a training that only memorises', () => {
    const { candidates } = createTinyRanking({ dimension: DIMENSION });
    const unrelated = Array.from({ length: 10 }, (_, seed) =>
      createTinyRanking({ seed, dimension: DIMENSION }),
    );
    const examples = unrelated.flatMap((tiny) => tiny.examples);
    const model = createRankModel(new WasmMultiplier(), DIMENSION, createRandom(3));
    const steps = [
      ...trainRanker(model, candidates, examples, { seed: 5, steps: 1000, rate: 0.05, patience: 2 }),
    ];
    expect(steps.length).toBeLessThan(1000);
  });

  test('restores the best parameters', () => {
    const parameter = { name: 'x', values: new Float32Array([0]), slopes: new Float32Array(1), pace: 1 };
    const losses = [3, 1, 2, 4];
    const stopping = new EarlyStopping([parameter], 2, () => losses.shift()!);
    const over = [20, 40, 60, 80].map((step) => {
      parameter.values[0] = step;
      return stopping.isOver(step);
    });
    expect(over).toEqual([false, false, false, true]);
    stopping.restore();
    expect(parameter.values[0]).toBe(40);
  });
});

test('[RANK-14] what was learned can be scaled back, down to the order of search', () => {
  const work = kindsOfWork();
  const candidates = new Candidates(work.tools, [], work.dimension);
  const lesson = { candidates, runs: work.runs(60), multiplier: new WasmMultiplier(), seed: 1 };
  const steps = learnRanker(lesson);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { ranker } = step.value;
  const query = work.run(0);
  const order = (scores: ArrayLike<number>) =>
    ranksOf(
      scores,
      work.tools.map((_, i) => [i]),
    );
  expect(order(ranker.rank(query).logits)[0]).toBe(1);
  ranker.model.temper(0);
  const { logits, text } = ranker.rank(query);
  expect(order(logits)).toEqual(order(text.fused));
});
