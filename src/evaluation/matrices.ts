import type { Pointer } from '../core/numeric/arena.ts';
import { Kernels } from '../core/numeric/kernels.ts';

/** Row-major float32. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export function matrixOf(vectors: readonly Float32Array[], columns: number): Matrix {
  const values = new Float32Array(vectors.length * columns);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * columns);
  return { rows: vectors.length, columns, values };
}

export function rowOf({ columns, values }: Matrix, row: number): Float32Array {
  return values.subarray(row * columns, (row + 1) * columns);
}

/** Matrix products on the wasm kernels; operands are copied in, results out. */
export class Multiplier {
  readonly #kernels = new Kernels();

  /** A[m x k] B[n x k]^T: the dot products of all rows. */
  timesTransposed(a: Matrix, b: Matrix): Matrix {
    return this.#product(a, b, a.rows, b.rows, (left, right, out) =>
      this.#kernels.gemmNT(a.rows, b.rows, a.columns, left, right, out),
    );
  }

  /** A[m x k] B[k x n] */
  times(a: Matrix, b: Matrix): Matrix {
    return this.#product(a, b, a.rows, b.columns, (left, right, out) =>
      this.#kernels.gemmNN(a.rows, b.columns, a.columns, left, right, out),
    );
  }

  /** A[k x m]^T B[k x n] */
  transposedTimes(a: Matrix, b: Matrix): Matrix {
    return this.#product(a, b, a.columns, b.columns, (left, right, out) =>
      this.#kernels.gemmTN(a.columns, b.columns, a.rows, left, right, out),
    );
  }

  #product(
    a: Matrix,
    b: Matrix,
    rows: number,
    columns: number,
    multiply: (left: Pointer, right: Pointer, out: Pointer) => void,
  ): Matrix {
    const { arena } = this.#kernels;
    const mark = arena.mark();
    const left = arena.put(a.values);
    const right = arena.put(b.values);
    const out = arena.floats(rows * columns);
    multiply(left, right, out);
    const values = arena.view(out, rows * columns).slice();
    arena.release(mark);
    return { rows, columns, values };
  }
}
