import { logOdds } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';

const DEFAULTS = {
  hidden: 24,
  rate: 0.01,
  batch: 256,
  /** Rounds over all rows: so many that this number of rows is seen, within these. */
  seen: 500_000,
  leastEpochs: 3,
  mostEpochs: 10,
  /** Few rows are seen more often. */
  leastSteps: 400,
  /** Pull of all weights toward 0. */
  decay: 1e-4,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
};

/** Rows of features with what is true of each. */
export interface LabelledRows {
  readonly width: number;
  /** [rows x width], row-major. */
  readonly values: Float32Array;
  /** 0 or 1 of each row. */
  readonly labels: Float32Array;
}

export interface NetOptions {
  readonly random: Random;
  /** Units of the hidden layer; with none it is logistic regression. */
  readonly hidden?: number;
  readonly epochs?: number;
}

/** Everything a net is, as numbers. */
export interface NetState {
  readonly hidden: number;
  /** Of the features it was trained on. */
  readonly means: Float64Array;
  readonly scales: Float64Array;
  /** w [width], b, then per hidden unit its weights [width], its bias, its weight in the sum. */
  readonly weights: Float64Array;
}

/**
 * A chance from a row of features: logistic regression beside one hidden layer of rectified units, on
 * standardised features. Trained by cross-entropy with Adam (Kingma & Ba, 2015).
 */
export class SmallNet {
  readonly state: NetState;
  readonly #width: number;
  readonly #x: Float64Array;
  readonly #units: Float64Array;

  constructor(state: NetState) {
    this.state = state;
    this.#width = state.means.length;
    this.#x = new Float64Array(this.#width);
    this.#units = new Float64Array(state.hidden);
  }

  /** Pauses after every batch, so that others can run in between. */
  static *learn(rows: LabelledRows, options: NetOptions): Generator<void, SmallNet> {
    const { random, hidden = DEFAULTS.hidden, epochs = epochsFor(rows.labels.length) } = options;
    const net = new SmallNet({ hidden, ...momentsOf(rows), weights: startOf(rows, hidden, random) });
    yield* net.#fit(rows, random, epochs);
    return net;
  }

  /** Of the row that begins at `offset`. */
  chance(values: Float32Array, offset = 0): number {
    this.#standardise(values, offset);
    return logistic(this.#forward());
  }

  *#fit({ values, labels, width }: LabelledRows, random: Random, epochs: number): Generator<void, void> {
    const { rate, batch } = DEFAULTS;
    const slopes = new Float64Array(this.state.weights.length);
    const step = adamOn(this.state.weights, slopes);
    const order = Array.from(labels.keys());
    const steps = epochs * Math.ceil(labels.length / batch);
    let done = 0;
    for (let epoch = 0; epoch < epochs; epoch++) {
      random.shuffle(order);
      for (let from = 0; from < order.length; from += batch) {
        const rows = order.slice(from, from + batch);
        for (const row of rows) {
          this.#standardise(values, row * width);
          const error = logistic(this.#forward()) - labels[row]!;
          this.#backward(error / rows.length, slopes);
        }
        step(rate * 0.5 * (1 + Math.cos((Math.PI * done++) / steps)));
        yield;
      }
    }
  }

  #standardise(values: Float32Array, offset: number): void {
    const { means, scales } = this.state;
    for (let k = 0; k < means.length; k++) this.#x[k] = (values[offset + k]! - means[k]!) * scales[k]!;
  }

  /** Leaves the hidden units where `#backward` finds them. */
  #forward(): number {
    const width = this.#width;
    const { weights } = this.state;
    const [x, units] = [this.#x, this.#units];
    let logit = weights[width]!;
    for (let k = 0; k < width; k++) logit += weights[k]! * x[k]!;
    for (let h = 0; h < units.length; h++) {
      const at = width + 1 + h * (width + 2);
      let sum = weights[at + width]!;
      for (let k = 0; k < width; k++) sum += weights[at + k]! * x[k]!;
      units[h] = Math.max(0, sum);
      logit += units[h]! * weights[at + width + 1]!;
    }
    return logit;
  }

  #backward(error: number, slopes: Float64Array): void {
    const width = this.#width;
    const [x, units] = [this.#x, this.#units];
    for (let k = 0; k < width; k++) slopes[k]! += error * x[k]!;
    slopes[width]! += error;
    for (let h = 0; h < units.length; h++) {
      if (units[h] === 0) continue;
      const at = width + 1 + h * (width + 2);
      slopes[at + width + 1]! += error * units[h]!;
      const inner = error * this.state.weights[at + width + 1]!;
      for (let k = 0; k < width; k++) slopes[at + k]! += inner * x[k]!;
      slopes[at + width]! += inner;
    }
  }
}

function epochsFor(rows: number): number {
  const { seen, leastEpochs, mostEpochs, leastSteps, batch } = DEFAULTS;
  const epochs = Math.min(mostEpochs, Math.max(leastEpochs, Math.round(seen / Math.max(1, rows))));
  return Math.max(epochs, Math.ceil(leastSteps / Math.ceil(Math.max(1, rows) / batch)));
}

/** Starts as what is true of all rows alike. */
function startOf({ width, labels }: LabelledRows, hidden: number, random: Random): Float64Array {
  const weights = new Float64Array(width + 1 + hidden * (width + 2));
  const share = labels.reduce((sum, label) => sum + label, 0.5) / (labels.length + 1);
  weights[width] = logOdds(share);
  for (let h = 0; h < hidden; h++) {
    const at = width + 1 + h * (width + 2);
    for (let k = 0; k < width; k++) weights[at + k] = random.normal() / Math.sqrt(width);
    weights[at + width + 1] = (random.normal() * 0.1) / Math.sqrt(hidden);
  }
  return weights;
}

/** Takes a step against the slopes, and clears them. */
function adamOn(weights: Float64Array, slopes: Float64Array): (rate: number) => void {
  const { decay, beta1, beta2, epsilon } = DEFAULTS;
  const first = new Float64Array(weights.length);
  const second = new Float64Array(weights.length);
  let steps = 0;
  return (rate) => {
    steps++;
    const unbias1 = 1 / (1 - beta1 ** steps);
    const unbias2 = 1 / (1 - beta2 ** steps);
    for (let k = 0; k < weights.length; k++) {
      const slope = slopes[k]! + decay * weights[k]!;
      first[k] = beta1 * first[k]! + (1 - beta1) * slope;
      second[k] = beta2 * second[k]! + (1 - beta2) * slope * slope;
      weights[k]! -= (rate * first[k]! * unbias1) / (Math.sqrt(second[k]! * unbias2) + epsilon);
    }
    slopes.fill(0);
  };
}

function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** A feature that never varies counts for nothing. */
function momentsOf({ values, labels, width }: LabelledRows): { means: Float64Array; scales: Float64Array } {
  const means = new Float64Array(width);
  const squares = new Float64Array(width);
  const rows = labels.length || 1;
  for (let i = 0; i < labels.length; i++) {
    for (let k = 0; k < width; k++) means[k]! += values[i * width + k]! / rows;
  }
  for (let i = 0; i < labels.length; i++) {
    for (let k = 0; k < width; k++) squares[k]! += (values[i * width + k]! - means[k]!) ** 2 / rows;
  }
  return { means, scales: squares.map((square) => (square > 1e-12 ? 1 / Math.sqrt(square) : 0)) };
}
