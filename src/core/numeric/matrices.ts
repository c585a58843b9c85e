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
