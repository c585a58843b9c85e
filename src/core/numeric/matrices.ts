/** Single precision is what serves; double precision is what gradients are checked in. */
export type Floats = Float32Array | Float64Array;

/** Row-major. */
export interface Matrix<F extends Floats = Float32Array> {
  readonly rows: number;
  readonly columns: number;
  readonly values: F;
}

export function matrixOf(vectors: readonly Float32Array[], columns: number): Matrix {
  const values = new Float32Array(vectors.length * columns);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * columns);
  return { rows: vectors.length, columns, values };
}

/** A window on one row. */
export function rowOf<F extends Floats>({ columns, values }: Matrix<F>, row: number): F {
  return values.subarray(row * columns, (row + 1) * columns) as F;
}

/** Matrix products, in one precision. */
export interface Multiplier<F extends Floats = Float32Array> {
  /** Zeros, in this precision. */
  floats(length: number): F;
  /** A[m x k] B[n x k]^T: the dot products of all rows. */
  timesTransposed(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
  /** A[m x k] B[k x n] */
  times(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
  /** A[k x m]^T B[k x n] */
  transposedTimes(a: Matrix<F>, b: Matrix<F>): Matrix<F>;
}

/** Plain loops in double precision: what gradients are checked with, and what the kernels are timed against. */
export class PlainMultiplier implements Multiplier<Floats> {
  floats(length: number): Float64Array {
    return new Float64Array(length);
  }

  timesTransposed(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.rows, a.columns, 1], [b.rows, 1, b.columns], a.columns);
  }

  times(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.rows, a.columns, 1], [b.columns, b.columns, 1], a.columns);
  }

  transposedTimes(a: Matrix<Floats>, b: Matrix<Floats>): Matrix<Float64Array> {
    return product(a, b, [a.columns, 1, a.columns], [b.columns, b.columns, 1], a.rows);
  }
}

/** How many, then how far apart neighbours are along the outer dimension, and along the summed one (left) or columns (right). */
type Strides = readonly [size: number, first: number, second: number];

function product(
  { values: a }: Matrix<Floats>,
  { values: b }: Matrix<Floats>,
  [rows, aRow, aDepth]: Strides,
  [columns, bDepth, bColumn]: Strides,
  depth: number,
): Matrix<Float64Array> {
  const values = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let p = 0; p < depth; p++) {
      const left = a[i * aRow + p * aDepth]!;
      for (let j = 0; j < columns; j++) values[i * columns + j]! += left * b[p * bDepth + j * bColumn]!;
    }
  }
  return { rows, columns, values };
}
