import { PmlError } from '../../vocabulary/pml-error.ts';

const DEFAULTS = {
  /** Weight of the squared norm of the weights: keeps the weight of a feature that is always 0 at its start. */
  ridge: 1e-3,
  iterations: 30,
  /** Converged when an iteration lowers the loss by less. */
  tolerance: 1e-7,
  /** How often a step that does not lower the loss is halved. */
  halvings: 20,
};

/** One query: a value per feature and candidate, and which candidates are correct. */
export interface ListwiseExample {
  /** [features][candidates] */
  readonly features: readonly ArrayLike<number>[];
  readonly positives: readonly number[];
}

/**
 * Weights w that minimise the mean over queries and over each query's correct candidates p of
 * log(1 + exp(logsumexp(wrong) - L_p)), L = w·x: correct candidates never compete with each other.
 * The loss is convex; Newton's method finds its minimum in a few steps.
 */
export function fitListwise(examples: readonly ListwiseExample[], start: readonly number[]): number[] {
  let weights = [...start];
  let loss = lossOf(examples, weights);
  for (let iteration = 0; iteration < DEFAULTS.iterations; iteration++) {
    const { gradient, hessian } = derivatives(examples, weights);
    const step = solve(hessian, gradient);
    const before = loss;
    for (let half = 0; half <= DEFAULTS.halvings; half++) {
      const next = weights.map((weight, k) => weight - step[k]! / 2 ** half);
      const nextLoss = lossOf(examples, next);
      if (nextLoss >= loss) continue;
      weights = next;
      loss = nextLoss;
      break;
    }
    if (before - loss < DEFAULTS.tolerance) break;
  }
  return weights;
}

function lossOf(examples: readonly ListwiseExample[], weights: readonly number[]): number {
  let loss = DEFAULTS.ridge * weights.reduce((sum, weight) => sum + weight * weight, 0);
  for (const { features, positives } of examples) {
    const scores = linearScores(features, weights);
    const wrong = logSumOfWrong(scores, new Set(positives));
    for (const positive of positives) {
      const gap = wrong - scores[positive]!;
      // log(1 + e^gap) without overflow
      loss += (Math.max(0, gap) + Math.log1p(Math.exp(-Math.abs(gap)))) / positives.length / examples.length;
    }
  }
  return loss;
}

function logSumOfWrong(scores: Float64Array, right: ReadonlySet<number>): number {
  const highest = highestWrong(scores, right);
  const sum = scores.reduce(
    (total, score, i) => (right.has(i) ? total : total + Math.exp(score - highest)),
    0,
  );
  return highest + Math.log(sum);
}

function highestWrong(scores: Float64Array, right: ReadonlySet<number>): number {
  return scores.reduce((best, score, i) => (right.has(i) ? best : Math.max(best, score)), -1e300);
}

/** w·x for every candidate. */
export function linearScores(
  features: readonly ArrayLike<number>[],
  weights: readonly number[],
): Float64Array {
  const scores = new Float64Array(features[0]?.length ?? 0);
  for (const [k, values] of features.entries()) {
    const weight = weights[k]!;
    for (let i = 0; i < scores.length; i++) scores[i]! += weight * values[i]!;
  }
  return scores;
}

interface Derivatives {
  readonly gradient: number[];
  readonly hessian: number[][];
}

function derivatives(examples: readonly ListwiseExample[], weights: readonly number[]): Derivatives {
  const size = weights.length;
  const gradient = weights.map((weight) => 2 * DEFAULTS.ridge * weight);
  const hessian = weights.map((_, k) => weights.map((__, l) => (k === l ? 2 * DEFAULTS.ridge : 0)));
  for (const { features, positives } of examples) {
    const scores = linearScores(features, weights);
    const wrong = momentsOfWrong(features, scores, new Set(positives));
    const share = 1 / examples.length / positives.length;
    for (const positive of positives) {
      // The probability of a wrong candidate instead of this correct one.
      const missed = 1 / (1 + Math.exp(scores[positive]! - wrong.logSum));
      const gap = features.map((values, k) => values[positive]! - wrong.mean[k]!);
      for (let k = 0; k < size; k++) {
        gradient[k]! -= share * missed * gap[k]!;
        for (let l = 0; l <= k; l++) {
          const curvature = share * missed * (wrong.covariance[k]![l]! + (1 - missed) * gap[k]! * gap[l]!);
          hessian[k]![l]! += curvature;
          if (l < k) hessian[l]![k]! += curvature;
        }
      }
    }
  }
  return { gradient, hessian };
}

/** Mean and covariance of the features over the wrong candidates, by their softmax probability. */
function momentsOfWrong(
  features: readonly ArrayLike<number>[],
  scores: Float64Array,
  right: ReadonlySet<number>,
): { logSum: number; mean: number[]; covariance: number[][] } {
  const highest = highestWrong(scores, right);
  const chances = scores.map((score, i) => (right.has(i) ? 0 : Math.exp(score - highest)));
  const sum = chances.reduce((total, chance) => total + chance, 0);
  const mean = features.map((values) => weightedSum(chances, values) / sum);
  const covariance = features.map((values, k) =>
    features
      .slice(0, k + 1)
      .map((others, l) => weightedProduct(chances, values, others) / sum - mean[k]! * mean[l]!),
  );
  return { logSum: highest + Math.log(sum), mean, covariance };
}

function weightedSum(weights: Float64Array, values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * values[i]!;
  return sum;
}

function weightedProduct(weights: Float64Array, a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * a[i]! * b[i]!;
  return sum;
}

/** x of A x = b, by elimination with pivoting; A is symmetric and positive definite. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const size = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < size; i++) {
    const pivot = rows
      .slice(i)
      .reduce((best, row, k) => (Math.abs(row[i]!) > Math.abs(rows[best]![i]!) ? i + k : best), i);
    [rows[i], rows[pivot]] = [rows[pivot]!, rows[i]!];
    if (rows[i]![i] === 0)
      throw new PmlError('internal', 'The weights of a logistic regression are not uniquely determined');
    for (const [j, row] of rows.entries()) {
      if (j === i) continue;
      const factor = row[i]! / rows[i]![i]!;
      for (let k = i; k <= size; k++) row[k]! -= factor * rows[i]![k]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
