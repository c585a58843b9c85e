import { expect, test } from 'vitest';
import { proofSeed } from '../../../../test/proof-count.ts';
import { createRandom } from '../../numeric/random.ts';
import { ReplayBuffer } from '../optim/replay-buffer.ts';
import {
  type SuccessExample,
  SuccessHead,
  TdErrorWindow,
  tdTarget,
  trainSuccessHead,
} from './success-head.ts';

const seed = proofSeed();
const INPUTS = 20;
/** Step of central differences: their error grows with its square, the rounding error as it shrinks. */
const STEP = 1e-5;

/** Runs that usually succeed, more often with a greater first feature and a smaller second. */
function examplesOf(count: number, from = seed): SuccessExample[] {
  const random = createRandom(from);
  return Array.from({ length: count }, () => {
    const features = Array.from({ length: INPUTS }, () => random.next());
    const chance = 1 / (1 + Math.exp(-(2 + 8 * (features[0]! - features[1]!))));
    return { features, success: random.next() < chance, stepsLeft: random.int(5) };
  });
}

function trainedOn(examples: readonly SuccessExample[], steps: number, alpha = 0.6) {
  const random = createRandom(seed);
  const head = new SuccessHead(INPUTS, random);
  const buffer = new ReplayBuffer<SuccessExample>({ random, alpha });
  for (const example of examples) buffer.add(example);
  const window = new TdErrorWindow();
  const losses = [...trainSuccessHead(head, buffer, { steps, window })].map(({ loss }) => loss);
  return { head, losses, window };
}

test('[TD-1] the target is the outcome, discounted by .99 for each step left', () => {
  const target = (success: boolean, stepsLeft: number) => tdTarget({ features: [], success, stepsLeft });
  expect(target(true, 0)).toBe(1);
  expect(target(true, 10)).toBeCloseTo(0.99 ** 10, 12);
  expect(target(false, 3)).toBe(0);
});

test('[TD-1] TD errors are target minus prediction, the loss their weighted mean square', () => {
  const head = new SuccessHead(INPUTS, createRandom(seed));
  const examples = examplesOf(6);
  const weights = [1, 0.5, 0.2, 1, 0.7, 0.1];
  const { loss, tdErrors } = head.learn(examples, weights);
  for (const [i, example] of examples.entries()) {
    expect(tdErrors[i]).toBeCloseTo(tdTarget(example) - head.predict(example.features), 12);
  }
  const squares = weights.map((weight, i) => weight * tdErrors[i]! ** 2);
  expect(loss).toBeCloseTo(squares.reduce((sum, square) => sum + square, 0) / 6, 12);
});

test('[TD-2] every gradient is that of finite differences', () => {
  const head = new SuccessHead(INPUTS, createRandom(seed));
  const examples = examplesOf(12);
  const weights = examples.map((_, i) => 1 / (1 + i));
  head.learn(examples, weights);
  const slopes = head.parameters.map((parameter) => parameter.slopes.slice());
  const lossWith = (values: { [i: number]: number }, i: number, value: number) => {
    const held = values[i]!;
    values[i] = value;
    const { loss } = head.learn(examples, weights);
    values[i] = held;
    return loss;
  };
  for (const [k, { name, values }] of head.parameters.entries()) {
    for (let i = 0; i < values.length; i++) {
      const [up, down] = [values[i]! + STEP, values[i]! - STEP];
      const difference = (lossWith(values, i, up) - lossWith(values, i, down)) / (2 * STEP);
      const slope = slopes[k]![i]!;
      const scale = Math.max(Math.abs(slope), Math.abs(difference), 1e-6);
      expect(Math.abs(slope - difference) / scale, `${name}[${i}]`).toBeLessThan(1e-3);
    }
  }
});

test('[TD-2] every weight moves within twenty steps', () => {
  const { head } = trainedOn(examplesOf(200), 20);
  const fresh = new SuccessHead(INPUTS, createRandom(seed));
  for (const [k, { name, values }] of head.parameters.entries()) {
    for (const [i, value] of values.entries()) {
      expect(value, `${name}[${i}]`).not.toBe(fresh.parameters[k]!.values[i]);
    }
  }
});

test('[TD-3] it separates runs that will succeed from those that will not, better than the rate of success', () => {
  const { head, window } = trainedOn(examplesOf(600), 400);
  const unseen = examplesOf(400, seed + 1);
  const predictions = unseen.map(({ features }) => head.predict(features));
  const targets = unseen.map(tdTarget);
  const mean = targets.reduce((sum, target) => sum + target, 0) / targets.length;
  const squares = (guess: (i: number) => number) =>
    targets.reduce((sum, target, i) => sum + (target - guess(i)) ** 2, 0);
  expect(squares((i) => predictions[i]!)).toBeLessThan(0.8 * squares(() => mean));
  expect(Math.max(...predictions) - Math.min(...predictions)).toBeGreaterThan(0.5);
  expect(window.meanAbsoluteTdError).toBeLessThan(0.45);
});

test('[TD-3] the same seed gives the same loss curve, and an empty buffer teaches nothing', () => {
  expect(trainedOn(examplesOf(100), 30).losses).toEqual(trainedOn(examplesOf(100), 30).losses);
  expect(trainedOn([], 30).losses).toEqual([]);
});

test('[TD-3] the mean absolute TD error covers the newest errors', () => {
  const window = new TdErrorWindow(3);
  expect(window.meanAbsoluteTdError).toBeNull();
  window.add([9, -1]);
  expect(window.meanAbsoluteTdError).toBe(5);
  window.add([2, -3]);
  expect(window.meanAbsoluteTdError).toBe(2);
});
