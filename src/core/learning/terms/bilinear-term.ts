import { type Floats, type Matrix, type Multiplier, rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import {
  createParameter,
  type Parameter,
  type RankBatch,
  type RankReason,
  type RankTerm,
} from '../ranker/rank-term.ts';
import { addTo } from './projection.ts';

const DEFAULTS = {
  heads: 8,
  /** More runs can train more heads; learners keep at most 5,000 runs. */
  adaptive: [
    { runs: 0, heads: 4 },
    { runs: 1_000, heads: 8 },
    { runs: 5_000, heads: 12 },
  ],
  /** Columns of each head; only heads x columns affects the sum, but each head can be inspected separately. */
  headColumns: 8,
  /** Unit vectors have small products: without this factor the first hundred steps would only increase them. */
  scale: 20,
  /** Tens of thousands of numbers from few runs: it overfits unless it learns more slowly than the dense part. */
  pace: 1 / 30,
};

/** The number of heads that a number of runs can train; at most twelve, because they delay every answer. */
export function adaptiveHeads(runs: number): number {
  return DEFAULTS.adaptive.findLast((size) => runs >= size.runs)?.heads ?? DEFAULTS.heads;
}

/** The number of heads of a model with this many intent parameters. */
export function headsOf(numbers: number, dimension: number): number {
  return numbers / (dimension * DEFAULTS.headColumns);
}

/**
 * logit = scale g (q U) . (e V): K heads, each a projection of the intent q and of the candidate e into a
 * common space of a few dimensions. V starts at 0 and g at 1, so the term starts at 0 and still learns.
 */
export class BilinearTerm implements RankTerm {
  readonly parameters: readonly Parameter[];
  readonly heads: number;
  readonly #multiplier: Multiplier<Floats>;
  readonly #intents: Parameter;
  readonly #candidates: Parameter;
  readonly #gain: Parameter;
  readonly #dimension: number;
  readonly #rank: number;
  /** From the last forward pass. [batch x d], [batch x rank], [candidates x rank], [batch x candidates] */
  #queries: Matrix<Floats> | undefined;
  #left: Matrix<Floats> | undefined;
  #right: Matrix<Floats> | undefined;
  #products: Matrix<Floats> | undefined;
  #prepared: { candidates: RankBatch['candidates']; right: Matrix<Floats> } | undefined;

  constructor(
    multiplier: Multiplier<Floats>,
    dimension: number,
    random: Random,
    { heads = DEFAULTS.heads, headColumns = DEFAULTS.headColumns, pace = DEFAULTS.pace } = {},
  ) {
    this.#multiplier = multiplier;
    this.#dimension = dimension;
    this.heads = heads;
    this.#rank = heads * headColumns;
    const size = dimension * this.#rank;
    const start = Array.from({ length: size }, () => random.normal() / Math.sqrt(dimension));
    this.#intents = createParameter(multiplier, 'bilinear.intents', start, { pace });
    this.#candidates = createParameter(multiplier, 'bilinear.candidates', new Float32Array(size), { pace });
    this.#gain = createParameter(multiplier, 'bilinear.gain', [1], { pace });
    this.parameters = [this.#intents, this.#candidates, this.#gain];
  }

  prepare(candidates: RankBatch['candidates']): void {
    this.#prepared = { candidates, right: this.#projected(candidates) };
  }

  temper(trust: number): void {
    this.#gain.values[0]! *= trust;
  }

  explain({ examples, candidates }: RankBatch, place: number): readonly RankReason[] {
    const { intent } = examples[0]!;
    const query = { rows: 1, columns: this.#dimension, values: intent };
    const left = this.#multiplier.times(query, this.#weights(this.#intents)).values;
    const vector = { rows: 1, columns: this.#dimension, values: rowOf(candidates.vectors, place) };
    const right = this.#multiplier.times(vector, this.#weights(this.#candidates)).values;
    const factor = DEFAULTS.scale * this.#gain.values[0]!;
    const columns = this.#rank / this.heads;
    return Array.from({ length: this.heads }, (_, head) => {
      let moved = 0;
      for (let k = head * columns; k < (head + 1) * columns; k++) moved += factor * left[k]! * right[k]!;
      return { name: `head_${head + 1}`, moved };
    });
  }

  forward({ examples, candidates, random }: RankBatch, logits: readonly Floats[]): void {
    const values = this.#multiplier.floats(examples.length * this.#dimension);
    for (const [i, { intent }] of examples.entries()) values.set(intent, i * this.#dimension);
    this.#queries = { rows: examples.length, columns: this.#dimension, values };
    this.#left = this.#multiplier.times(this.#queries, this.#weights(this.#intents));
    const isPrepared = !random && this.#prepared?.candidates === candidates;
    this.#right = isPrepared ? this.#prepared!.right : this.#projected(candidates);
    this.#products = this.#multiplier.timesTransposed(this.#left, this.#right);
    const factor = DEFAULTS.scale * this.#gain.values[0]!;
    for (const [i, row] of logits.entries()) {
      for (let t = 0; t < row.length; t++) row[t]! += factor * this.#products.values[i * row.length + t]!;
    }
  }

  backward({ examples, candidates }: RankBatch, slopes: readonly Floats[]): void {
    const { scale } = DEFAULTS;
    const factor = scale * this.#gain.values[0]!;
    const products = this.#products!;
    const back = this.#multiplier.floats(products.values.length);
    let gain = 0;
    for (const [i, row] of slopes.entries()) {
      for (let t = 0; t < row.length; t++) {
        const at = i * row.length + t;
        gain += scale * row[t]! * products.values[at]!;
        back[at] = factor * row[t]!;
      }
    }
    this.#gain.slopes[0]! += gain;
    const matrix: Matrix<Floats> = { rows: examples.length, columns: candidates.size, values: back };
    const left = this.#multiplier.times(matrix, this.#right!);
    const right = this.#multiplier.transposedTimes(matrix, this.#left!);
    addTo(this.#intents.slopes, this.#multiplier.transposedTimes(this.#queries!, left).values);
    addTo(this.#candidates.slopes, this.#multiplier.transposedTimes(candidates.vectors, right).values);
  }

  /** [candidates x rank] */
  #projected({ vectors }: RankBatch['candidates']): Matrix<Floats> {
    return this.#multiplier.times(vectors, this.#weights(this.#candidates));
  }

  #weights({ values }: Parameter): Matrix<Floats> {
    return { rows: this.#dimension, columns: this.#rank, values };
  }
}
