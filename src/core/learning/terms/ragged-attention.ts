import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';

/** The result of backward: one matrix for each input of forward. */
export interface AttentionSlopes {
  readonly queries: Matrix<Floats>;
  readonly keys: Matrix<Floats>;
  readonly values: Matrix<Floats>;
}

/**
 * Multi-head dot-product attention (Vaswani et al., 2017) where each query has its own list of keys:
 * out_h = sum_k softmax_k(s_h Q_h . K_h) V_h. Instead of 1 / sqrt(columns), each head learns its sharpness s:
 * projections of unit vectors have products of about their cosine, so that a sharpness of 1 would be too flat.
 */
export class RaggedAttention {
  readonly sharpness: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  readonly #heads: number;
  /** From the last forward pass. [lists x columns], [rows x columns] twice */
  #queries: Matrix<Floats> | undefined;
  #keys: Matrix<Floats> | undefined;
  #values: Matrix<Floats> | undefined;
  #lists: RaggedLists | undefined;
  /** [items x heads]: products of query and key, and their softmax over the list. */
  #products: Floats;
  #weights: Floats;

  /** `sharpness` is the start value; it is learned as a factor. */
  constructor(multiplier: Multiplier<Floats>, name: string, heads: number, sharpness: number, pace = 1) {
    this.#multiplier = multiplier;
    this.#heads = heads;
    this.sharpness = createParameter(multiplier, name, new Array<number>(heads).fill(sharpness), {
      pace: pace * sharpness,
      isHeld: true,
    });
    this.#products = multiplier.floats(0);
    this.#weights = this.#products;
  }

  /** [lists x columns]; zeros for an empty list. Columns are a multiple of heads. */
  forward(
    queries: Matrix<Floats>,
    keys: Matrix<Floats>,
    values: Matrix<Floats>,
    lists: RaggedLists,
  ): Matrix<Floats> {
    const heads = this.#heads;
    const { columns } = queries;
    const width = columns / heads;
    const { starts, items } = lists;
    const products = this.#multiplier.floats(items.length * heads);
    const weights = this.#multiplier.floats(items.length * heads);
    const out = this.#multiplier.floats(queries.rows * columns);
    const [q, k, v, sharpness] = [queries.values, keys.values, values.values, this.sharpness.values];
    for (let list = 0; list < queries.rows; list++) {
      for (let head = 0; head < heads; head++) {
        const own = list * columns + head * width;
        let highest = Number.NEGATIVE_INFINITY;
        for (let item = starts[list]!; item < starts[list + 1]!; item++) {
          const at = items[item]! * columns + head * width;
          let product = 0;
          for (let c = 0; c < width; c++) product += q[own + c]! * k[at + c]!;
          products[item * heads + head] = product;
          highest = Math.max(highest, sharpness[head]! * product);
        }
        let sum = 0;
        for (let item = starts[list]!; item < starts[list + 1]!; item++) {
          const place = item * heads + head;
          weights[place] = Math.exp(sharpness[head]! * products[place]! - highest);
          sum += weights[place]!;
        }
        for (let item = starts[list]!; item < starts[list + 1]!; item++) {
          const weight = weights[item * heads + head]! / sum;
          weights[item * heads + head] = weight;
          const at = items[item]! * columns + head * width;
          for (let c = 0; c < width; c++) out[own + c]! += weight * v[at + c]!;
        }
      }
    }
    [this.#queries, this.#keys, this.#values, this.#lists] = [queries, keys, values, lists];
    [this.#products, this.#weights] = [products, weights];
    return { rows: queries.rows, columns, values: out };
  }

  /** After `forward`, with slopes [lists x columns]. */
  backward(slopes: Matrix<Floats>): AttentionSlopes {
    const heads = this.#heads;
    const { columns } = slopes;
    const width = columns / heads;
    const { starts, items } = this.#lists!;
    const back = {
      queries: this.#empty(this.#queries!),
      keys: this.#empty(this.#keys!),
      values: this.#empty(this.#values!),
    };
    const [q, k, v] = [this.#queries!.values, this.#keys!.values, this.#values!.values];
    const [dq, dk, dv] = [back.queries.values, back.keys.values, back.values.values];
    const [dOut, weights, sharpness] = [slopes.values, this.#weights, this.sharpness.values];
    // dLoss/dWeight of the items of one list and head.
    const gains = new Float64Array(longestOf(starts));
    for (let list = 0; list < slopes.rows; list++) {
      const first = starts[list]!;
      const last = starts[list + 1]!;
      for (let head = 0; head < heads; head++) {
        const own = list * columns + head * width;
        let mean = 0;
        for (let item = first; item < last; item++) {
          const weight = weights[item * heads + head]!;
          const at = items[item]! * columns + head * width;
          let gain = 0;
          for (let c = 0; c < width; c++) {
            gain += dOut[own + c]! * v[at + c]!;
            dv[at + c]! += weight * dOut[own + c]!;
          }
          gains[item - first] = gain;
          mean += weight * gain;
        }
        // Softmax: dScore = weight (gain - mean gain).
        for (let item = first; item < last; item++) {
          const place = item * heads + head;
          const score = weights[place]! * (gains[item - first]! - mean);
          this.sharpness.slopes[head]! += score * this.#products[place]!;
          const product = score * sharpness[head]!;
          const at = items[item]! * columns + head * width;
          for (let c = 0; c < width; c++) {
            dq[own + c]! += product * k[at + c]!;
            dk[at + c]! += product * q[own + c]!;
          }
        }
      }
    }
    return back;
  }

  #empty({ rows, columns, values }: Matrix<Floats>): Matrix<Floats> {
    return { rows, columns, values: this.#multiplier.floats(values.length) };
  }
}

function longestOf(starts: Int32Array): number {
  let longest = 0;
  for (let i = 1; i < starts.length; i++) longest = Math.max(longest, starts[i]! - starts[i - 1]!);
  return longest;
}

/** The nearest number of columns that the heads can share evenly. */
export function columnsFor(hidden: number, heads: number): number {
  return heads * Math.max(1, Math.round(hidden / heads));
}

/** Lists of row numbers, end to end: list i is items[starts[i]] to items[starts[i + 1]], end exclusive. */
export interface RaggedLists {
  /** [lists + 1] */
  readonly starts: Int32Array;
  readonly items: Int32Array;
}

export function raggedLists(lists: readonly (readonly number[])[]): RaggedLists {
  const starts = new Int32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) starts[i + 1] = starts[i]! + list.length;
  const items = new Int32Array(starts[lists.length]!);
  for (const [i, list] of lists.entries()) items.set(list, starts[i]!);
  return { starts, items };
}

/** The mean of each list's rows, [lists x columns]; zeros for an empty list. */
export function meanOfLists(
  multiplier: Multiplier<Floats>,
  { columns, values }: Matrix<Floats>,
  { starts, items }: RaggedLists,
): Matrix<Floats> {
  const rows = starts.length - 1;
  const means = multiplier.floats(rows * columns);
  for (let list = 0; list < rows; list++) {
    const share = 1 / (starts[list + 1]! - starts[list]!);
    for (let item = starts[list]!; item < starts[list + 1]!; item++) {
      const at = items[item]! * columns;
      for (let c = 0; c < columns; c++) means[list * columns + c]! += share * values[at + c]!;
    }
  }
  return { rows, columns, values: means };
}

/** From slopes of the means, [lists x columns], to slopes of their rows, [rows x columns]. */
export function slopesOfLists(
  multiplier: Multiplier<Floats>,
  { columns, values }: Matrix<Floats>,
  { starts, items }: RaggedLists,
  rows: number,
): Matrix<Floats> {
  const slopes = multiplier.floats(rows * columns);
  for (let list = 0; list < starts.length - 1; list++) {
    const share = 1 / (starts[list + 1]! - starts[list]!);
    for (let item = starts[list]!; item < starts[list + 1]!; item++) {
      const at = items[item]! * columns;
      for (let c = 0; c < columns; c++) slopes[at + c]! += share * values[list * columns + c]!;
    }
  }
  return { rows, columns, values: slopes };
}
