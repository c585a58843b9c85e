import { PlainMultiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { Adam } from '../optim/adam.ts';
import { annealedBeta, type ReplayBuffer } from '../optim/replay-buffer.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';

const DEFAULTS = {
  hidden: 16,
  /** Discount of a success per step. */
  gamma: 0.99,
  steps: 100,
  batch: 32,
  rate: 3e-3,
  warmUp: 20,
  /** Pull of the weights towards their start. */
  decay: 1e-4,
  /** Number of newest TD errors in the window. */
  length: 500,
};

/** A step of a run with its features from before the run, and the outcome. */
export interface SuccessExample {
  /** [inputs], such as the 17 trace statistics of the node and other known features. */
  readonly features: ArrayLike<number>;
  /** Success of the run. */
  readonly success: boolean;
  /** Number of steps from this one to the end of the run; 0 for the last. */
  readonly stepsLeft: number;
}

export interface SuccessLesson {
  /** Mean over the batch of weight x TD error^2. */
  readonly loss: number;
  /** Target minus prediction, one per example. */
  readonly tdErrors: Float64Array;
}

/** outcome x gamma^(steps left): a distant success is worth less. */
export function tdTarget({ success, stepsLeft }: SuccessExample): number {
  return success ? DEFAULTS.gamma ** stepsLeft : 0;
}

/**
 * Predicts how likely and how near success is: sigmoid(w2 · tanh(W1 x + b1) + b2), x [inputs], W1 [hidden x
 * inputs], w2 [hidden]. It learns from the Monte-Carlo form of the TD error (Sutton & Barto, 2018, chapter 6:
 * the target is the discounted outcome, known when the run has ended) and shares nothing with the
 * ranker. It is so small that plain loops in double precision are enough.
 */
export class SuccessHead {
  readonly inputs: number;
  readonly hidden: number;
  readonly parameters: readonly Parameter[];
  readonly #weights1: Parameter;
  readonly #biases1: Parameter;
  readonly #weights2: Parameter;
  readonly #bias2: Parameter;

  constructor(inputs: number, random: Random, hidden = DEFAULTS.hidden) {
    const plain = new PlainMultiplier();
    const drawn = (length: number, fanIn: number) =>
      Array.from({ length }, () => random.normal() / Math.sqrt(fanIn));
    this.inputs = inputs;
    this.hidden = hidden;
    this.#weights1 = createParameter(plain, 'success.w1', drawn(hidden * inputs, inputs), { isHeld: true });
    this.#biases1 = createParameter(plain, 'success.b1', new Float64Array(hidden));
    this.#weights2 = createParameter(plain, 'success.w2', drawn(hidden, hidden), { isHeld: true });
    this.#bias2 = createParameter(plain, 'success.b2', new Float64Array(1));
    this.parameters = [this.#weights1, this.#biases1, this.#weights2, this.#bias2];
  }

  /** In (0, 1). */
  predict(features: ArrayLike<number>): number {
    return this.#forward(features, new Float64Array(this.hidden));
  }

  /** Adds the slopes of the batch's loss to the parameters; the optimiser takes the step. */
  learn(examples: readonly SuccessExample[], weights?: ArrayLike<number>): SuccessLesson {
    const tdErrors = new Float64Array(examples.length);
    const hidden = new Float64Array(this.hidden);
    let loss = 0;
    for (const [i, example] of examples.entries()) {
      const weight = (weights?.[i] ?? 1) / examples.length;
      const predicted = this.#forward(example.features, hidden);
      const tdError = tdTarget(example) - predicted;
      tdErrors[i] = tdError;
      loss += weight * tdError ** 2;
      this.#backward(example.features, hidden, predicted, -2 * weight * tdError);
    }
    return { loss, tdErrors };
  }

  /** Leaves the hidden layer's output in `hidden`. */
  #forward(features: ArrayLike<number>, hidden: Float64Array): number {
    const { inputs } = this;
    const [w1, b1, w2] = [this.#weights1.values, this.#biases1.values, this.#weights2.values];
    let logit = this.#bias2.values[0]!;
    for (let unit = 0; unit < hidden.length; unit++) {
      let sum = b1[unit]!;
      for (let i = 0; i < inputs; i++) sum += w1[unit * inputs + i]! * features[i]!;
      hidden[unit] = Math.tanh(sum);
      logit += w2[unit]! * hidden[unit]!;
    }
    return 1 / (1 + Math.exp(-logit));
  }

  /** Adds slopes, given dLoss/dPrediction. */
  #backward(features: ArrayLike<number>, hidden: Float64Array, predicted: number, slope: number): void {
    const { inputs } = this;
    const [dw1, db1, dw2] = [this.#weights1.slopes, this.#biases1.slopes, this.#weights2.slopes];
    const w2 = this.#weights2.values;
    const dLogit = slope * predicted * (1 - predicted);
    this.#bias2.slopes[0]! += dLogit;
    for (let unit = 0; unit < hidden.length; unit++) {
      dw2[unit]! += dLogit * hidden[unit]!;
      const dSum = dLogit * w2[unit]! * (1 - hidden[unit]! ** 2);
      db1[unit]! += dSum;
      for (let i = 0; i < inputs; i++) dw1[unit * inputs + i]! += dSum * features[i]!;
    }
  }
}

export interface SuccessTraining {
  readonly steps?: number;
  readonly batch?: number;
  readonly rate?: number;
  /** Receives the TD errors of every batch. */
  readonly window?: TdErrorWindow;
}

/** Draws batches from the buffer, learns from them with importance weights, and updates their priorities. */
export function* trainSuccessHead(
  head: SuccessHead,
  buffer: ReplayBuffer<SuccessExample>,
  options: SuccessTraining = {},
): Generator<{ step: number; steps: number; loss: number }, void> {
  const { steps = DEFAULTS.steps, batch = DEFAULTS.batch, rate = DEFAULTS.rate, window } = options;
  if (buffer.size === 0) return;
  const adam = new Adam(head.parameters, DEFAULTS.decay);
  for (let step = 0; step < steps; step++) {
    const drawn = buffer.sample(batch, annealedBeta(step, steps));
    const { loss, tdErrors } = head.learn(drawn.items, drawn.weights);
    adam.step(rate * Math.min(1, (step + 1) / DEFAULTS.warmUp));
    buffer.updatePriorities(drawn, tdErrors);
    window?.add(tdErrors);
    yield { step, steps, loss };
  }
}

/** The newest errors in predicting success. */
export class TdErrorWindow {
  readonly #length: number;
  readonly #errors: number[] = [];
  #added = 0;

  constructor(length = DEFAULTS.length) {
    this.#length = length;
  }

  add(tdErrors: Iterable<number>): void {
    for (const tdError of tdErrors) this.#errors[this.#added++ % this.#length] = Math.abs(tdError);
  }

  /** Null before the first error. */
  get meanAbsoluteTdError(): number | null {
    if (this.#errors.length === 0) return null;
    return this.#errors.reduce((sum, error) => sum + error, 0) / this.#errors.length;
  }
}
