import type { Random } from '../numeric/random.ts';
import { Adam } from './adam.ts';
import { listwiseLoss } from './listwise-loss.ts';
import type { RankModel } from './rank-model.ts';
import type { RankBatch, RankExample } from './rank-term.ts';

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

export interface TrainingOptions {
  readonly random: Random;
  readonly steps?: number;
  readonly rate?: number;
  readonly batch?: number;
  readonly decay?: number;
}

/** What one step did. */
export interface TrainingStep {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
}

/** Trains step by step, so that the caller can tell of progress, stop, or let others run in between. */
export function* trainRanker(
  model: RankModel,
  candidates: RankBatch['candidates'],
  examples: readonly TrainingExample[],
  options: TrainingOptions,
): Generator<TrainingStep, void> {
  const { random, rate = DEFAULTS.rate, decay = DEFAULTS.decay } = options;
  const steps = options.steps ?? stepsFor(examples.length);
  const size = Math.min(options.batch ?? DEFAULTS.batch, examples.length);
  const adam = new Adam(model.parameters, decay);
  let left: TrainingExample[] = [];
  for (let step = 0; step < steps; step++) {
    if (left.length < size) left = [...random.shuffle([...examples]), ...left];
    const batch = left.splice(-size);
    const loss = learnFrom(model, candidates, batch, random);
    adam.step(rate * paceAt(step, steps));
    yield { step, steps, loss };
  }
}

export function stepsFor(examples: number): number {
  return Math.min(DEFAULTS.mostSteps, Math.max(DEFAULTS.leastSteps, 2 * examples));
}

/** One forward and one backward pass: leaves the slopes of the batch's mean loss in the parameters. */
export function learnFrom(
  model: RankModel,
  candidates: RankBatch['candidates'],
  examples: readonly TrainingExample[],
  random?: Random,
): number {
  const batch = { candidates, examples, ...(random && { random }) };
  const logits = model.forward(batch);
  const total = examples.reduce((sum, { weight }) => sum + weight, 0) || 1;
  let loss = 0;
  const slopes = logits.map((row, i) => {
    const { right, weight } = examples[i]!;
    const slope = row.slice();
    loss += (listwiseLoss(row, right, weight / total, slope) * weight) / total;
    return slope;
  });
  model.backward(batch, slopes);
  return loss;
}

/** Linear warm-up, then half a cosine down to 0 (Loshchilov & Hutter, 2017). */
function paceAt(step: number, steps: number): number {
  const { warmUp } = DEFAULTS;
  if (step < warmUp) return (step + 1) / warmUp;
  return 0.5 * (1 + Math.cos((Math.PI * (step - warmUp)) / Math.max(1, steps - warmUp)));
}
