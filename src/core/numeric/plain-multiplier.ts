import type { Floats, Matrix, Multiplier } from './matrices.ts';

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
