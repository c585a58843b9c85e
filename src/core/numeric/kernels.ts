import { Arena, type Pointer, type WasmMemory } from './arena.ts';
import { KERNELS_BASE64 } from './kernels-bytes.ts';
import type { Matrix, Multiplier } from './matrices.ts';

/**
 * The kernels of `assembly/`, each over its own memory. Matrices are row-major float32; sizes and
 * strides count elements, pointers count bytes.
 */
export interface KernelExports {
  readonly memory: WasmMemory;
  readonly heapBase: { readonly value: number };

  /**
   * C[m x n] = A[m x k] B[k x n], or += when `accumulate` is 1. An operand is transposed by swapping
   * its two strides. C must not overlap A or B.
   */
  gemm(
    m: number,
    n: number,
    k: number,
    a: Pointer,
    aRow: number,
    aColumn: number,
    b: Pointer,
    bRow: number,
    bColumn: number,
    c: Pointer,
    cRow: number,
    accumulate: 0 | 1,
  ): void;
  /** C[m x n] = A[m x k] B, with B as `packB` laid it out: for weights that are used many times. */
  gemmPacked(
    m: number,
    n: number,
    k: number,
    a: Pointer,
    aRow: number,
    packedB: Pointer,
    c: Pointer,
    cRow: number,
  ): void;
  /** B[k x n] into `packedLength(k, n)` floats at `out`. */
  packB(k: number, n: number, b: Pointer, bRow: number, bColumn: number, out: Pointer): void;

  /** x[n] += y[n] */
  add(n: number, x: Pointer, y: Pointer): void;
  /** x[rows x columns] += bias[columns] */
  addBias(rows: number, columns: number, x: Pointer, bias: Pointer): void;
  /** x[n] = x/2 (1 + erf(x / sqrt 2)) */
  gelu(n: number, x: Pointer): void;
  /** Each row of x[rows x columns] = softmax(scale * row) */
  softmaxRows(rows: number, columns: number, x: Pointer, scale: number): void;
  /** Each row of x[rows x columns] = (row - mean) / sqrt(variance + epsilon) * gamma + beta */
  layerNormRows(
    rows: number,
    columns: number,
    x: Pointer,
    gamma: Pointer,
    beta: Pointer,
    epsilon: number,
  ): void;
  /** out[n] = low + step * q[n], q unsigned bytes */
  dequantise(n: number, q: Pointer, low: number, step: number, out: Pointer): void;
  /** out[rows] = matrix[rows x columns] query[columns]; equal rows get equal values. */
  dotRows(rows: number, columns: number, matrix: Pointer, query: Pointer, out: Pointer): void;
}

/** Columns per strip of a packed matrix. */
export const STRIP = 8;

/** One instance of the module: its kernels, and an arena over all memory behind its own buffers. */
export class Kernels {
  readonly run: KernelExports;
  readonly arena: Arena;

  constructor() {
    this.run = new wasm.Instance(compiledModule()).exports;
    this.arena = new Arena(this.run.memory, this.run.heapBase.value);
  }

  /** C[m x n] = A[m x k] B[k x n] */
  gemmNN(m: number, n: number, k: number, a: Pointer, b: Pointer, c: Pointer, accumulate: 0 | 1 = 0): void {
    this.run.gemm(m, n, k, a, k, 1, b, n, 1, c, n, accumulate);
  }

  /** C[m x n] = A[m x k] B[n x k]^T */
  gemmNT(m: number, n: number, k: number, a: Pointer, b: Pointer, c: Pointer, accumulate: 0 | 1 = 0): void {
    this.run.gemm(m, n, k, a, k, 1, b, 1, k, c, n, accumulate);
  }

  /** C[m x n] = A[k x m]^T B[k x n] */
  gemmTN(m: number, n: number, k: number, a: Pointer, b: Pointer, c: Pointer, accumulate: 0 | 1 = 0): void {
    this.run.gemm(m, n, k, a, 1, m, b, n, 1, c, n, accumulate);
  }
}

/** Floats that `packB` writes for a matrix of k x n. */
export function packedLength(k: number, n: number): number {
  return Math.ceil(n / STRIP) * STRIP * k;
}

/** As with its memory: only what is used here, since no library of types declares it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
}

const wasm = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;

let compiled: object | undefined;

/** Compiled once, at first use. */
function compiledModule(): object {
  compiled ??= new wasm.Module(Uint8Array.fromBase64(KERNELS_BASE64));
  return compiled;
}

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
