import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { FEATURES, WIDTH } from '../ranker/rank-features.ts';
import {
  createParameter,
  type Parameter,
  type RankBatch,
  type RankReason,
  type RankTerm,
} from '../ranker/rank-term.ts';

const DEFAULTS = {
  hidden: 32,
  dropout: 0.1,
  /** Start weight of a standardised hybrid score: a softmax over hundreds of candidates is neither flat nor certain. */
  hybridWeight: 1.5,
};

/** Candidates of a batch with a single row. */
const ONE = { size: 1, vectors: { rows: 1, columns: 0, values: new Float32Array() } };

/** Start values of the fusion; they also determine its width. */
export interface FusionWeights {
  /** [features], the first columns of a row */
  readonly linear: ArrayLike<number>;
  /** [width x hidden] */
  readonly inward: ArrayLike<number>;
  /** [hidden] */
  readonly bias: ArrayLike<number>;
  /** [hidden] */
  readonly outward: ArrayLike<number>;
}

/** Ranks exactly like search: weight on its score only, and a hidden layer that outputs 0. */
export function searchFusion(random: Random, hidden = DEFAULTS.hidden): FusionWeights {
  return {
    linear: FEATURES.map((feature) => (feature === 'hybrid' ? DEFAULTS.hybridWeight : 0)),
    inward: Array.from({ length: WIDTH * hidden }, () => random.normal() / Math.sqrt(WIDTH)),
    bias: new Array<number>(hidden).fill(0),
    outward: new Array<number>(hidden).fill(0),
  };
}

/** The untrained fusion. `features` are [candidates x WIDTH]. */
export function searchLogits(features: Float32Array, candidates: number): Float32Array {
  const column = FEATURES.indexOf('hybrid');
  const logits = new Float32Array(candidates);
  for (let i = 0; i < candidates; i++) logits[i] = DEFAULTS.hybridWeight * features[i * WIDTH + column]!;
  return logits;
}

/** logit = w . z + v . relu(W^T [z; x] + b): fused features, z the standardised ones, x the situation. */
export class FusionTerm implements RankTerm {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #linear: Parameter;
  readonly #inward: Parameter;
  readonly #bias: Parameter;
  readonly #outward: Parameter;
  readonly #width: number;
  readonly #hidden: number;
  readonly #dropout: number;
  readonly #unseen: readonly number[];
  /** From the last forward pass. [rows x width], [rows x hidden] */
  #inputs: Matrix<Floats> | undefined;
  #activations: Matrix<Floats> | undefined;
  /** [hidden] for each example: 0 for a dropped unit, otherwise its scale. */
  #kept: readonly Float32Array[] = [];

  /** `unseen` are columns that it ignores. */
  constructor(
    multiplier: Multiplier<Floats>,
    start: FusionWeights,
    { dropout = DEFAULTS.dropout, unseen = [] }: { dropout?: number; unseen?: readonly number[] } = {},
  ) {
    this.#multiplier = multiplier;
    this.#linear = createParameter(multiplier, 'fusion.linear', start.linear, { isHeld: true });
    this.#inward = createParameter(multiplier, 'fusion.inward', start.inward, { isHeld: true });
    this.#bias = createParameter(multiplier, 'fusion.bias', start.bias, { isHeld: true });
    this.#outward = createParameter(multiplier, 'fusion.outward', start.outward, { isHeld: true });
    this.parameters = [this.#linear, this.#inward, this.#bias, this.#outward];
    this.#hidden = start.bias.length;
    this.#width = start.inward.length / start.bias.length;
    this.#dropout = dropout;
    this.#unseen = unseen;
  }

  get weights(): FusionWeights {
    return {
      linear: this.#linear.values,
      inward: this.#inward.values,
      bias: this.#bias.values,
      outward: this.#outward.values,
    };
  }

  temper(trust: number): void {
    for (const { values, anchor } of [this.#linear, this.#outward]) {
      for (let i = 0; i < values.length; i++) values[i] = anchor![i]! + trust * (values[i]! - anchor![i]!);
    }
  }

  /** By occlusion: what the logit loses when a feature is replaced by its mean over all candidates. */
  explain({ examples }: RankBatch, place: number): readonly RankReason[] {
    const row = examples[0]!.features.slice(place * this.#width, (place + 1) * this.#width);
    const whole = this.#logitOf(row);
    return FEATURES.map((name, k) => {
      const without = row.slice();
      without[k] = 0;
      return { name, moved: whole - this.#logitOf(without) };
    });
  }

  #logitOf(row: Float32Array): number {
    const logits = [this.#multiplier.floats(1)];
    this.forward({ candidates: ONE, examples: [{ features: row, intent: row }] }, logits);
    return logits[0]![0]!;
  }

  forward({ examples, random }: RankBatch, logits: readonly Floats[]): void {
    const hidden = this.#hidden;
    const width = this.#width;
    const inputs = this.#stack(examples.map(({ features }) => features));
    const activations = this.#multiplier.times(inputs, {
      rows: width,
      columns: hidden,
      values: this.#inward.values,
    });
    this.#inputs = inputs;
    this.#activations = activations;
    this.#kept = examples.map(() => this.#keptUnits(random));
    const x = inputs.values;
    const h = activations.values;
    const linear = this.#linear.values;
    const bias = this.#bias.values;
    const outward = this.#outward.values;
    let row = 0;
    for (const [i, own] of logits.entries()) {
      const kept = this.#kept[i]!;
      for (let candidate = 0; candidate < own.length; candidate++, row++) {
        let logit = 0;
        for (let k = 0, at = row * width; k < linear.length; k++, at++) logit += linear[k]! * x[at]!;
        for (let k = 0, at = row * hidden; k < hidden; k++, at++) {
          const value = h[at]! + bias[k]!;
          h[at] = value > 0 ? value * kept[k]! : 0;
          logit += outward[k]! * h[at]!;
        }
        own[candidate]! += logit;
      }
    }
  }

  backward(_: RankBatch, slopes: readonly Floats[]): void {
    const hidden = this.#hidden;
    const width = this.#width;
    const inputs = this.#inputs!;
    const activations = this.#activations!;
    const x = inputs.values;
    const h = activations.values;
    const outward = this.#outward.values;
    const linearSlopes = this.#linear.slopes;
    const biasSlopes = this.#bias.slopes;
    const outwardSlopes = this.#outward.slopes;
    let row = 0;
    for (const [i, own] of slopes.entries()) {
      const kept = this.#kept[i]!;
      for (let candidate = 0; candidate < own.length; candidate++, row++) {
        const slope = own[candidate]!;
        for (let k = 0, at = row * width; k < linearSlopes.length; k++, at++)
          linearSlopes[k]! += slope * x[at]!;
        // Each activation is overwritten by its slope once it has been read.
        for (let k = 0, at = row * hidden; k < hidden; k++, at++) {
          const activation = h[at]!;
          outwardSlopes[k]! += slope * activation;
          const back = activation > 0 ? slope * outward[k]! * kept[k]! : 0;
          h[at] = back;
          biasSlopes[k]! += back;
        }
      }
    }
    const inward = this.#multiplier.transposedTimes(inputs, activations).values;
    for (let i = 0; i < inward.length; i++) this.#inward.slopes[i]! += inward[i]!;
  }

  /**
   * While training, some hidden units are dropped and the others scaled up (Srivastava et al., 2014): the same
   * units for all candidates of a query, because these are compared with each other.
   */
  #keptUnits(random: Random | undefined): Float32Array {
    const scale = random ? 1 / (1 - this.#dropout) : 1;
    return new Float32Array(this.#hidden).map(() => (random && random.next() < this.#dropout ? 0 : scale));
  }

  #stack(rows: readonly Float32Array[]): Matrix<Floats> {
    const length = rows.reduce((sum, { length }) => sum + length, 0);
    const values = this.#multiplier.floats(length);
    let at = 0;
    for (const row of rows) {
      values.set(row, at);
      at += row.length;
    }
    for (const column of this.#unseen) {
      for (let i = column; i < length; i += this.#width) values[i] = 0;
    }
    return { rows: length / this.#width, columns: this.#width, values };
  }
}
