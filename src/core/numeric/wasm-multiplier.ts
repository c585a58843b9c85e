import type { Pointer } from './arena.ts';
import { Kernels } from './kernels.ts';
import type { Matrix, Multiplier } from './matrices.ts';

/** On the wasm kernels, in single precision; operands are copied in, results out. */
export class WasmMultiplier implements Multiplier {
  readonly #kernels = new Kernels();

  floats(length: number): Float32Array {
    return new Float32Array(length);
  }

  timesTransposed(a: Matrix, b: Matrix): Matrix {
    return this.#product(a, b, a.rows, b.rows, (left, right, out) =>
      this.#kernels.gemmNT(a.rows, b.rows, a.columns, left, right, out),
    );
  }

  times(a: Matrix, b: Matrix): Matrix {
    return this.#product(a, b, a.rows, b.columns, (left, right, out) =>
      this.#kernels.gemmNN(a.rows, b.columns, a.columns, left, right, out),
    );
  }

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
