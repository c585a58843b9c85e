import { createRandom, type Random } from '../numeric/random.ts';
import type { SearchWeights } from '../retrieval/search-weights.ts';
import { Adam } from './adam.ts';
import type { Candidates } from './candidates.ts';
import { listwiseLoss } from './listwise-loss.ts';
import type { PastRun, PastRuns } from './past-runs.ts';
import { rankFeatures } from './rank-features.ts';
import type { RankModel } from './rank-model.ts';
import type { Parameter, RankBatch, RankExample } from './rank-term.ts';

const DEFAULTS = {
  rate: 3e-3,
  warmUp: 20,
  batch: 64,
  /** Pull toward where the dense part started. */
  decay: 0.01,
  /** Steps: two for each example, within these. */
  leastSteps: 60,
  mostSteps: 400,
};

/** A query whose right answers are known. */
export interface TrainingExample extends RankExample {
  /** Places of the right candidates, at least one. */
  readonly right: readonly number[];
  /** How much it counts beside others. */
  readonly weight: number;
}

/** A run as an example: what search and other work in the past say of it, its like left out. */
export function exampleOf(
  run: PastRun,
  weight: number,
  candidates: Candidates,
  past: PastRuns,
  weights?: SearchWeights,
): TrainingExample {
  const text = candidates.textScores(run, weights);
  const features = rankFeatures(run, text, candidates, past, past.alike(run.key));
  return { features, intent: run.intent, right: run.uses, weight };
}

export interface TrainingOptions {
  /** The same seed gives the same parameters. */
  readonly seed: number;
  readonly steps?: number;
  readonly rate?: number;
  readonly batch?: number;
  readonly decay?: number;
  /** Where an earlier training was interrupted. */
  readonly from?: TrainingPoint;
}

/** A training under way: with the model's parameters, all that is needed to go on exactly. */
export interface TrainingPoint {
  /** Steps taken. */
  readonly step: number;
  /** Of the optimiser. */
  readonly moments: readonly Pick<Parameter, 'name' | 'values'>[];
}

/** What one step did. */
export interface TrainingStep extends TrainingPoint {
  readonly steps: number;
  readonly loss: number;
}

/** Trains step by step, so that the caller can tell of progress, stop, or let others run in between. */
export function* trainRanker(
  model: RankModel,
  candidates: RankBatch['candidates'],
  examples: readonly TrainingExample[],
  { seed, from, rate = DEFAULTS.rate, decay = DEFAULTS.decay, ...options }: TrainingOptions,
): Generator<TrainingStep, void> {
  const steps = options.steps ?? stepsFor(examples.length);
  const batches = batchesOf(examples, options.batch ?? DEFAULTS.batch, createRandom(seed));
  const adam = new Adam(model.parameters, decay);
  if (from) goOn(adam, from);
  for (let step = 0; step < steps; step++) {
    const batch = batches.next().value;
    // What was learned before is passed over, so that what follows is drawn as it would have been.
    if (step < (from?.step ?? 0)) continue;
    const { loss } = learnFrom(model, candidates, batch, createRandom(seed + step + 1));
    adam.step(rate * paceAt(step, steps));
    yield { step: step + 1, steps, loss, moments: adam.moments };
  }
}

function goOn(adam: Adam, { step, moments }: TrainingPoint): void {
  const stored = new Map(moments.map(({ name, values }) => [name, values]));
  for (const { name, values } of adam.moments) values.set(stored.get(name)!);
  adam.resume(step);
}

/** Each example once before any comes again. */
function* batchesOf<T>(examples: readonly T[], most: number, random: Random): Generator<T[], never> {
  const size = Math.min(most, examples.length);
  let left: T[] = [];
  for (;;) {
    if (left.length < size) left = [...random.shuffle([...examples]), ...left];
    yield left.splice(-size);
  }
}

export function stepsFor(examples: number): number {
  return Math.min(DEFAULTS.mostSteps, Math.max(DEFAULTS.leastSteps, 2 * examples));
}

/**
 * One forward and one backward pass: leaves the slopes of the batch's mean loss in the parameters, and
 * gives that loss and each example's own.
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
    return listwiseLoss(row, right, weight / total, slopes[i]!);
  });
  model.backward(batch, slopes);
  const loss = losses.reduce((sum, each, i) => sum + (each * examples[i]!.weight) / total, 0);
  return { loss, losses };
}

/** Linear warm-up, then half a cosine down to 0 (Loshchilov & Hutter, 2017). */
function paceAt(step: number, steps: number): number {
  const { warmUp } = DEFAULTS;
  if (step < warmUp) return (step + 1) / warmUp;
  return 0.5 * (1 + Math.cos((Math.PI * (step - warmUp)) / Math.max(1, steps - warmUp)));
}
