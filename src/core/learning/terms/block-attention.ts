import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';
import type { AttentionSlopes } from './ragged-attention.ts';

/** One head within one block, as the last forward pass left it; n rows in the block. */
interface Cell {
  readonly first: number;
  readonly head: number;
  /** [n x width] each */
  readonly queries: Matrix<Floats>;
  readonly keys: Matrix<Floats>;
  readonly values: Matrix<Floats>;
  /** [n x n]: query . key, and its softmax along rows. */
  readonly products: Matrix<Floats>;
  readonly weights: Matrix<Floats>;
}

/**
 * The attention of `RaggedAttention` where rows come in blocks and each sees all of its own block: then it is
 * made of matrix products, A_h = softmax(s_h Q_h K_h^T) and out_h = A_h V_h.
 */
export class BlockAttention {
  readonly sharpness: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  readonly #heads: number;
  #cells: readonly Cell[] = [];

  /** `sharpness` is where it starts; it moves in proportion. */
  constructor(multiplier: Multiplier<Floats>, name: string, heads: number, sharpness: number, pace = 1) {
    this.#multiplier = multiplier;
    this.#heads = heads;
    this.sharpness = createParameter(multiplier, name, new Array<number>(heads).fill(sharpness), {
      pace: pace * sharpness,
      isHeld: true,
    });
  }

  /** [rows x columns], blocks of these sizes one below the other. Columns are a multiple of heads. */
  forward(
    queries: Matrix<Floats>,
    keys: Matrix<Floats>,
    values: Matrix<Floats>,
    sizes: readonly number[],
  ): Matrix<Floats> {
    const out = this.#empty(queries);
    const cells: Cell[] = [];
    let first = 0;
    for (const size of sizes) {
      for (let head = 0; size > 0 && head < this.#heads; head++) {
        const [q, k, v] = [queries, keys, values].map((matrix) => this.#cut(matrix, first, size, head)) as [
          Matrix<Floats>,
          Matrix<Floats>,
          Matrix<Floats>,
        ];
        const products = this.#multiplier.timesTransposed(q, k);
        const weights = softmaxOfRows(products, this.sharpness.values[head]!);
        this.#paste(this.#multiplier.times(weights, v), out, first, head);
        cells.push({ first, head, queries: q, keys: k, values: v, products, weights });
      }
      first += size;
    }
    this.#cells = cells;
    return out;
  }

  /** After `forward`, with slopes [rows x columns]. */
  backward(slopes: Matrix<Floats>): AttentionSlopes {
    const back = { queries: this.#empty(slopes), keys: this.#empty(slopes), values: this.#empty(slopes) };
    for (const { first, head, queries, keys, values, products, weights } of this.#cells) {
      const own = this.#cut(slopes, first, queries.rows, head);
      this.#paste(this.#multiplier.transposedTimes(weights, own), back.values, first, head);
      const scores = this.#multiplier.timesTransposed(own, values);
      softmaxBack(scores, weights);
      const sharpness = this.sharpness.values[head]!;
      for (let i = 0; i < scores.values.length; i++) {
        this.sharpness.slopes[head]! += scores.values[i]! * products.values[i]!;
        scores.values[i]! *= sharpness;
      }
      this.#paste(this.#multiplier.times(scores, keys), back.queries, first, head);
      this.#paste(this.#multiplier.transposedTimes(scores, queries), back.keys, first, head);
    }
    return back;
  }

  /** The columns of one head in some rows, [size x width]. */
  #cut({ columns, values }: Matrix<Floats>, first: number, size: number, head: number): Matrix<Floats> {
    const width = columns / this.#heads;
    const cut = this.#multiplier.floats(size * width);
    for (let row = 0; row < size; row++) {
      const at = (first + row) * columns + head * width;
      cut.set(values.subarray(at, at + width), row * width);
    }
    return { rows: size, columns: width, values: cut };
  }

  #paste(cut: Matrix<Floats>, { columns, values }: Matrix<Floats>, first: number, head: number): void {
    const width = cut.columns;
    for (let row = 0; row < cut.rows; row++) {
      const own = cut.values.subarray(row * width, (row + 1) * width);
      values.set(own, (first + row) * columns + head * width);
    }
  }

  #empty({ rows, columns, values }: Matrix<Floats>): Matrix<Floats> {
    return { rows, columns, values: this.#multiplier.floats(values.length) };
  }
}

function softmaxOfRows({ rows, columns, values }: Matrix<Floats>, sharpness: number): Matrix<Floats> {
  const weights = values.slice();
  for (let row = 0; row < rows; row++) {
    const [first, last] = [row * columns, (row + 1) * columns];
    let highest = Number.NEGATIVE_INFINITY;
    for (let i = first; i < last; i++) highest = Math.max(highest, sharpness * values[i]!);
    let sum = 0;
    for (let i = first; i < last; i++) {
      weights[i] = Math.exp(sharpness * values[i]! - highest);
      sum += weights[i]!;
    }
    for (let i = first; i < last; i++) weights[i]! /= sum;
  }
  return { rows, columns, values: weights };
}

/** In place, from slopes of the weights to those of the scores: weight (slope - mean slope). */
function softmaxBack({ rows, columns, values }: Matrix<Floats>, { values: weights }: Matrix<Floats>): void {
  for (let row = 0; row < rows; row++) {
    const [first, last] = [row * columns, (row + 1) * columns];
    let mean = 0;
    for (let i = first; i < last; i++) mean += weights[i]! * values[i]!;
    for (let i = first; i < last; i++) values[i] = weights[i]! * (values[i]! - mean);
  }
}
