import type { Floats } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { SearchWeights } from '../../retrieval/text-scores.ts';
import { Adam } from '../optim/adam.ts';
import { annealedBeta, ReplayBuffer } from '../optim/replay-buffer.ts';
import type { Candidates } from './candidates.ts';
import { type PastRun, type PastRuns, pastForTerms } from './past-runs.ts';
import { rankFeatures } from './rank-features.ts';
import type { RankModel } from './rank-model.ts';
import type { Parameter, RankBatch, RankExample } from './rank-term.ts';

const DEFAULTS = {
  rate: 3e-3,
  warmUp: 20,
  batch: 64,
  /** Most feature rows of one step: with thousands of candidates it has fewer examples, but at least `leastBatch`. */
  rows: 100_000,
  leastBatch: 16,
  /** Pull of the dense part towards its start. */
  decay: 0.01,
  /** Steps: two per example, between `leastSteps` and `usualSteps`; with thousands of examples `perExample` each. */
  leastSteps: 60,
  usualSteps: 400,
  perExample: 0.2,
  mostSteps: 1000,
  /** Share of the examples held out for early stopping. */
  aside: 0.1,
  /** Steps between two evaluations. */
  every: 20,
};

/** A query whose correct answers are known. */
export interface TrainingExample extends RankExample {
  /** Indices of the correct candidates, at least one. */
  readonly right: readonly number[];
  /** A candidate that is ignored, neither correct nor wrong. */
  readonly leftOut?: number;
  /** Weight in the loss. */
  readonly weight: number;
}

/** A run as an example, with features from search and from past runs of other work. */
export function exampleOf(
  run: PastRun,
  weight: number,
  candidates: Candidates,
  past: PastRuns,
  { weights, wantsPast = false }: { weights?: SearchWeights | undefined; wantsPast?: boolean } = {},
): TrainingExample {
  const isHidden = past.alike(run.key);
  const text = candidates.textScores(run, weights);
  return {
    features: rankFeatures(run, text, candidates, past, isHidden),
    intent: run.intent,
    right: run.uses,
    weight,
    ...(wantsPast && pastForTerms(run.intent, past, isHidden)),
  };
}

export interface TrainingOptions {
  /** The same seed gives the same parameters. */
  readonly seed: number;
  readonly steps?: number;
  readonly mostSteps?: number;
  readonly rate?: number;
  readonly batch?: number;
  readonly decay?: number;
  /** Influence of an example's loss on how often it is drawn (prioritized replay); 0: none. */
  readonly alpha?: number;
  /** Evaluations without improvement on a held-out tenth before training stops; absent: no early stopping. */
  readonly patience?: number;
}

/** The result of one step. */
export interface TrainingStep {
  /** Steps taken so far. */
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
}

/** Trains step by step, so that the caller can report progress, stop, or let other work run in between. */
export function* trainRanker(
  model: RankModel,
  candidates: RankBatch['candidates'],
  all: readonly TrainingExample[],
  options: TrainingOptions,
): Generator<TrainingStep, void> {
  const { seed, rate = DEFAULTS.rate, decay = DEFAULTS.decay, alpha = 0, patience } = options;
  const aside = patience === undefined ? 0 : Math.floor(all.length * DEFAULTS.aside);
  const examples = all.slice(aside);
  const stopping = new EarlyStopping(model.parameters, patience ?? 0, () =>
    lossOf(model, candidates, all.slice(0, aside)),
  );
  const steps = options.steps ?? Math.min(options.mostSteps ?? DEFAULTS.mostSteps, stepsFor(examples.length));
  const size = Math.min(options.batch ?? batchFor(candidates.size), examples.length);
  const random = createRandom(seed);
  const draw =
    alpha > 0 ? drawByLoss(examples, size, steps, alpha, random) : drawInTurn(examples, size, random);
  const adam = new Adam(model.parameters, decay);
  for (let step = 1; step <= steps; step++) {
    const { batch, learned } = draw();
    const { loss, losses } = learnFrom(model, candidates, batch, createRandom(seed + step));
    learned?.(losses);
    adam.step(rate * paceAt(step - 1, steps));
    yield { step, steps, loss };
    if (aside > 0 && stopping.isOver(step)) break;
  }
  stopping.restore();
}

function lossOf(
  model: RankModel,
  candidates: RankBatch['candidates'],
  examples: readonly TrainingExample[],
): number {
  const losses = model
    .forward({ candidates, examples })
    .map((logits, i) => listwiseLoss(answersOf(logits, examples[i]!), examples[i]!.right, 1, logits.slice()));
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}

interface Draw {
  readonly batch: readonly TrainingExample[];
  /** Called with the loss of each example. */
  readonly learned?: (losses: readonly number[]) => void;
}

/** Draws each example once before any is repeated. */
function drawInTurn(examples: readonly TrainingExample[], size: number, random: Random): () => Draw {
  let left: TrainingExample[] = [];
  return () => {
    if (left.length < size) left = [...random.shuffle([...examples]), ...left];
    return { batch: left.splice(-size) };
  };
}

/** Draws examples with a high loss more often, with a lower weight each time. */
function drawByLoss(
  examples: readonly TrainingExample[],
  size: number,
  steps: number,
  alpha: number,
  random: Random,
): () => Draw {
  const buffer = new ReplayBuffer<TrainingExample>({ random, alpha, capacity: examples.length });
  for (const example of examples) buffer.add(example);
  let step = 0;
  return () => {
    const drawn = buffer.sample(size, annealedBeta(step++, steps));
    const batch = drawn.items.map((item, i) => ({ ...item, weight: item.weight * drawn.weights[i]! }));
    return { batch, learned: (losses) => buffer.updatePriorities(drawn, losses) };
  };
}

function batchFor(candidates: number): number {
  const { batch, leastBatch, rows } = DEFAULTS;
  return Math.max(leastBatch, Math.min(batch, Math.floor(rows / candidates)));
}

function stepsFor(examples: number): number {
  const { leastSteps, usualSteps, perExample } = DEFAULTS;
  const few = Math.min(usualSteps, Math.max(leastSteps, 2 * examples));
  return Math.max(few, Math.round(perExample * examples));
}

/**
 * One forward and one backward pass: leaves the slopes of the batch's mean loss in the parameters, and
 * returns that loss and each example's own.
 */
export function learnFrom(
  model: RankModel,
  candidates: RankBatch['candidates'],
  examples: readonly TrainingExample[],
  random?: Random,
): { readonly loss: number; readonly losses: readonly number[] } {
  const batch = { candidates, examples, ...(random && { random }) };
  const logits = model.forward(batch);
  const total = examples.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const slopes = logits.map((row) => row.slice());
  const losses = logits.map((row, i) => {
    const { right, weight } = examples[i]!;
    return listwiseLoss(answersOf(row, examples[i]!), right, weight / total, slopes[i]!);
  });
  model.backward(batch, slopes);
  const loss = losses.reduce((sum, each, i) => sum + (each * examples[i]!.weight) / total, 0);
  return { loss, losses };
}

/** The logits, without the candidate that is left out. */
function answersOf(logits: Floats, { leftOut }: TrainingExample): Floats {
  if (leftOut !== undefined) logits[leftOut] = Number.NEGATIVE_INFINITY;
  return logits;
}

/** Linear warm-up, then half a cosine down to 0 (Loshchilov & Hutter, 2017). */
function paceAt(step: number, steps: number): number {
  const { warmUp } = DEFAULTS;
  if (step < warmUp) return (step + 1) / warmUp;
  return 0.5 * (1 + Math.cos((Math.PI * (step - warmUp)) / Math.max(1, steps - warmUp)));
}

/**
 * Listwise and decoupled: the mean over correct candidates p of softplus(logsumexp(wrong) - logit_p), that is,
 * each correct candidate is separated from all wrong ones, and correct ones never compete (InfoNCE of van den Oord
 * et al., 2018, without the positives in the denominator: Yeh et al., "Decoupled Contrastive Learning", 2022).
 * Writes weight x dLoss/dLogits to `slopes` and returns the loss, unweighted.
 */
export function listwiseLoss(
  logits: Floats,
  right: readonly number[],
  weight: number,
  slopes: Floats,
): number {
  slopes.fill(0);
  const isRight = new Set(right);
  let highest = Number.NEGATIVE_INFINITY;
  for (let t = 0; t < logits.length; t++) if (logits[t]! > highest && !isRight.has(t)) highest = logits[t]!;
  if (highest === Number.NEGATIVE_INFINITY || right.length === 0) return 0;
  let sum = 0;
  for (let t = 0; t < logits.length; t++) {
    if (isRight.has(t)) continue;
    slopes[t] = Math.exp(logits[t]! - highest);
    sum += slopes[t]!;
  }
  const wrong = highest + Math.log(sum);
  let loss = 0;
  let missed = 0;
  for (const place of right) {
    const gap = wrong - logits[place]!;
    // The probability of a wrong candidate instead of this one.
    const chance = 1 / (1 + Math.exp(-gap));
    loss += gap > 0 ? gap + Math.log1p(Math.exp(-gap)) : Math.log1p(Math.exp(gap));
    missed += chance;
    slopes[place] = (-weight * chance) / right.length;
  }
  const share = (weight * missed) / right.length / sum;
  for (let t = 0; t < logits.length; t++) if (!isRight.has(t)) slopes[t]! *= share;
  return loss / right.length;
}

/**
 * Stops a training that no longer improves on held-out examples, and restores the best parameters
 * (Prechelt, "Early Stopping - But When?", 1998).
 */
export class EarlyStopping {
  readonly #parameters: readonly Parameter[];
  readonly #loss: () => number;
  readonly #patience: number;
  #best = Number.POSITIVE_INFINITY;
  #kept: Floats[] = [];
  #looks = 0;

  /** `loss` computes the held-out loss; training stops after `patience` evaluations without improvement. */
  constructor(parameters: readonly Parameter[], patience: number, loss: () => number) {
    this.#parameters = parameters;
    this.#patience = patience;
    this.#loss = loss;
  }

  /** True if training should stop. */
  isOver(step: number): boolean {
    if (step % DEFAULTS.every > 0) return false;
    const loss = this.#loss();
    this.#looks++;
    if (loss < this.#best) {
      this.#best = loss;
      this.#looks = 0;
      this.#kept = this.#parameters.map(({ values }) => values.slice());
    }
    return this.#looks >= this.#patience;
  }

  /** Restores the best parameters. */
  restore(): void {
    for (const [k, values] of this.#kept.entries()) this.#parameters[k]!.values.set(values);
  }
}
