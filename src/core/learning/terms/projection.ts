import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';

/** Share of a term's pace for matrices with a row for each dimension of the embedding: most numbers are there. */
export const EMBEDDING_PACE = 1 / 3;

/** y = x W: x [rows x inputs], W [inputs x outputs], y [rows x outputs]. */
export class Projection {
  readonly parameter: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  readonly #weights: Matrix<Floats>;
  /** Of the last forward pass. */
  #inputs: Matrix<Floats> | undefined;

  /** `start` is [inputs x outputs]. */
  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    start: Matrix<Floats>,
    options: { readonly pace?: number; readonly isHeld?: boolean } = {},
  ) {
    this.#multiplier = multiplier;
    this.parameter = createParameter(multiplier, name, start.values, options);
    this.#weights = { rows: start.rows, columns: start.columns, values: this.parameter.values };
  }

  forward(inputs: Matrix<Floats>): Matrix<Floats> {
    this.#inputs = inputs;
    return this.#multiplier.times(inputs, this.#weights);
  }

  /** dW += x^T dy */
  backward(slopes: Matrix<Floats>): void {
    addTo(this.parameter.slopes, this.#multiplier.transposedTimes(this.#inputs!, slopes).values);
  }

  /** dx = dy W^T */
  slopesOfInputs(slopes: Matrix<Floats>): Matrix<Floats> {
    return this.#multiplier.timesTransposed(slopes, this.#weights);
  }
}

/** sums += values, from `at` on. */
export function addTo(sums: Floats, values: Floats, at = 0): void {
  for (let i = 0; i < values.length; i++) sums[at + i]! += values[i]!;
}

/** Rows of equal length, one below the other: [rows x columns]. */
export function stackRows(
  multiplier: Multiplier<Floats>,
  rows: readonly Floats[],
  columns: number,
): Matrix<Floats> {
  const values = multiplier.floats(rows.length * columns);
  for (const [i, row] of rows.entries()) values.set(row, i * columns);
  return { rows: rows.length, columns, values };
}

/** [rows x columns] of N(0, variance). */
export function randomStart(rows: number, columns: number, variance: number, random: Random): Matrix<Floats> {
  const deviation = Math.sqrt(variance);
  const values = Float64Array.from({ length: rows * columns }, () => deviation * random.normal());
  return { rows, columns, values };
}
