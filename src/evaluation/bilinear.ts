import { type Matrix, type Multiplier, matrixOf, rowOf } from '../core/numeric/matrices.ts';
import type { Random } from '../core/numeric/random.ts';

const DEFAULTS = {
  epochs: 30,
  /** Enough for any number of examples. */
  maxSteps: 600,
  batch: 64,
  /** Adam (Kingma & Ba, 2015). */
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  /** Logits at the start: so many times the cosine. */
  scale: 20,
};

/** What a bilinear score is learned from: unit vectors of intents, and the tools that were right for each. */
export interface BilinearExample {
  readonly intent: Float32Array;
  readonly tools: readonly number[];
}

/**
 * score(q, t) = q^T W e_t, W[d x d] trained so that the tools of an intent win over all others (InfoNCE,
 * van den Oord et al., 2018; the tools of one intent share its probability). W starts as a multiple of
 * the identity, that is, as the cosine.
 */
export function trainBilinear(
  examples: readonly BilinearExample[],
  tools: Matrix,
  multiplier: Multiplier,
  random: Random,
): Matrix {
  const weights = scaledIdentity(tools.columns, DEFAULTS.scale);
  const adam = createAdam(weights.values.length);
  const steps = Math.min(DEFAULTS.maxSteps, DEFAULTS.epochs * Math.ceil(examples.length / DEFAULTS.batch));
  let left: BilinearExample[] = [];
  for (let step = 0; step < steps; step++) {
    if (left.length === 0) left = random.shuffle([...examples]);
    const batch = left.splice(-DEFAULTS.batch);
    const intents = matrixOf(
      batch.map(({ intent }) => intent),
      tools.columns,
    );
    const logits = bilinearScores(intents, weights, tools, multiplier);
    softmaxGradient(logits, batch);
    const gradient = multiplier.transposedTimes(intents, multiplier.times(logits, tools));
    adam(weights.values, gradient.values, DEFAULTS.learningRate * (1 - step / steps));
  }
  return weights;
}

/** [intents x tools] */
export function bilinearScores(
  intents: Matrix,
  weights: Matrix,
  tools: Matrix,
  multiplier: Multiplier,
): Matrix {
  return multiplier.timesTransposed(multiplier.times(intents, weights), tools);
}

/** Logits become the gradient of the mean loss: softmax less the share of each right tool. */
function softmaxGradient(logits: Matrix, batch: readonly BilinearExample[]): void {
  for (const [i, { tools }] of batch.entries()) {
    const row = rowOf(logits, i);
    const highest = row.reduce((best, value) => Math.max(best, value), Number.NEGATIVE_INFINITY);
    let sum = 0;
    for (let t = 0; t < row.length; t++) sum += row[t] = Math.exp(row[t]! - highest);
    for (let t = 0; t < row.length; t++) row[t]! /= sum * batch.length;
    for (const tool of tools) row[tool]! -= 1 / tools.length / batch.length;
  }
}

function scaledIdentity(size: number, scale: number): Matrix {
  const values = new Float32Array(size * size);
  for (let i = 0; i < size; i++) values[i * size + i] = scale;
  return { rows: size, columns: size, values };
}

function createAdam(size: number) {
  const { beta1, beta2, epsilon } = DEFAULTS;
  const first = new Float32Array(size);
  const second = new Float32Array(size);
  let decay1 = 1;
  let decay2 = 1;
  return (weights: Float32Array, gradient: Float32Array, rate: number): void => {
    decay1 *= beta1;
    decay2 *= beta2;
    for (let i = 0; i < size; i++) {
      const slope = gradient[i]!;
      first[i] = beta1 * first[i]! + (1 - beta1) * slope;
      second[i] = beta2 * second[i]! + (1 - beta2) * slope * slope;
      weights[i]! -= (rate * (first[i]! / (1 - decay1))) / (Math.sqrt(second[i]! / (1 - decay2)) + epsilon);
    }
  };
}
