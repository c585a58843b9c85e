import { fitListwise, linearScores } from '../core/learning/optim/listwise-logistic.ts';
import { type Matrix, type Multiplier, matrixOf, rowOf, standardised } from '../core/numeric/matrices.ts';
import type { Random } from '../core/numeric/random.ts';
import { lexicalScores } from '../core/retrieval/text-scores.ts';
import { words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import {
  intentVectors,
  type PastEvidence,
  type PastRuns,
  pastEvidence,
  pastRuns,
  type Workbench,
} from './workbench.ts';

/** Training data of a bilinear score: unit vectors of intents, and their correct tools. */
interface BilinearExample {
  readonly intent: Float32Array;
  readonly tools: readonly number[];
}

const DEFAULTS = {
  /** Parts of the training tasks; the bilinear score of each is learned from the other parts. */
  parts: 3,
  /** Training tasks on which the weights are fitted: eight weights need no more. */
  fittedOn: 800,
  /** Among tools without a vote the cosine decides. */
  tieBreak: 1e-9,
  /** Start of the fit: cosine and BM25 only. */
  start: [0.8, 0.35, 0, 0, 0, 0, 0, 0],
  epochs: 30,
  /** Enough for any number of examples. */
  maxSteps: 600,
  batch: 64,
  /** Adam (Kingma & Ba, 2015). */
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  /** Factor of the cosine in the initial logits. */
  scale: 20,
};

/** Scores of every tool for each of the tasks. */
export interface LogisticRanking {
  readonly scores: readonly Float64Array[];
  /** Votes of the nearest past intents alone. */
  readonly votes: readonly Float64Array[];
}

/**
 * Listwise logistic regression on eight features, each standardised per query over all tools: cosine,
 * BM25, votes of the nearest past intents (by embedding, by words), greatest and mean similarity to the
 * past intents that used the tool, log popularity, a bilinear score. `alike` says which past runs are hidden
 * from a training task: itself, and in protocols without shared groups its whole group.
 */
export function rankByLogistic(
  bench: Workbench,
  train: readonly Task[],
  test: readonly Task[],
  alike: (task: Task) => string,
  random: Random,
): LogisticRanking {
  const past = pastRuns(bench, train);
  const testEvidence = pastEvidence(bench, past, test, () => false);
  const cosines = bench.multiplier.timesTransposed(intentVectors(bench, test), bench.toolVectors);
  const votes = testEvidence.map((evidence, i) => {
    const row = rowOf(cosines, i);
    return evidence.votes.map((vote, tool) => vote + DEFAULTS.tieBreak * row[tool]!);
  });
  if (train.length === 0) return { scores: votes, votes };
  const sample = random.shuffle([...train]).slice(0, DEFAULTS.fittedOn);
  const sampleEvidence = pastEvidence(bench, past, sample, (task, other) => alike(task) === alike(other));
  const heldOut = heldOutBilinear(bench, past, sample, alike, random);
  const examples = featuresOf(bench, sample, sampleEvidence, heldOut).map((features, i) => ({
    features,
    positives: bench.placesOf(sample[i]!),
  }));
  const weights = fitListwise(
    examples.filter(({ positives }) => positives.length > 0),
    DEFAULTS.start,
  );
  const bilinear = bilinearFor(bench, past, past.tasks, test, random);
  const scores = featuresOf(bench, test, testEvidence, bilinear).map((features) =>
    linearScores(features, weights),
  );
  return { scores, votes };
}

/** [features][tools] per task. */
function featuresOf(
  bench: Workbench,
  tasks: readonly Task[],
  evidence: readonly PastEvidence[],
  bilinear: readonly Float32Array[],
): Float64Array[][] {
  const cosines = bench.multiplier.timesTransposed(intentVectors(bench, tasks), bench.toolVectors);
  return tasks.map(({ intent }, i) => {
    const { votes, lexicalVotes, greatest, mean, popularity } = evidence[i]!;
    const lexical = lexicalScores(bench.index.lexical, words(intent));
    return [rowOf(cosines, i), lexical, votes, lexicalVotes, greatest, mean, popularity, bilinear[i]!].map(
      standardised,
    );
  });
}

/** Bilinear scores of training tasks, each by a model that saw no similar task. */
function heldOutBilinear(
  bench: Workbench,
  past: PastRuns,
  tasks: readonly Task[],
  alike: (task: Task) => string,
  random: Random,
): Float32Array[] {
  const keys = random.shuffle([...new Set(past.tasks.map(alike))].sort());
  const partOf = new Map(keys.map((key, i) => [key, i % DEFAULTS.parts]));
  const scores = new Array<Float32Array>(tasks.length);
  for (let part = 0; part < DEFAULTS.parts; part++) {
    const places = tasks.flatMap((task, i) => (partOf.get(alike(task)) === part ? [i] : []));
    const others = past.tasks.filter((task) => partOf.get(alike(task)) !== part);
    const rows = bilinearFor(
      bench,
      past,
      others,
      places.map((i) => tasks[i]!),
      random,
    );
    for (const [k, i] of places.entries()) scores[i] = rows[k]!;
  }
  return scores;
}

function bilinearFor(
  bench: Workbench,
  past: PastRuns,
  seen: readonly Task[],
  tasks: readonly Task[],
  random: Random,
): Float32Array[] {
  const places = new Map(past.tasks.map((task, i) => [task, i]));
  const examples = seen.flatMap((task) => {
    const place = places.get(task)!;
    const tools = past.uses[place]!;
    return tools.length > 0 ? [{ intent: rowOf(past.vectors, place), tools }] : [];
  });
  const weights = trainBilinear(examples, bench.toolVectors, bench.multiplier, random);
  const scores: Matrix = bilinearScores(
    intentVectors(bench, tasks),
    weights,
    bench.toolVectors,
    bench.multiplier,
  );
  return tasks.map((_, i) => rowOf(scores, i));
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

/** Replaces logits by the gradient of the mean loss: softmax minus the share of each correct tool. */
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
