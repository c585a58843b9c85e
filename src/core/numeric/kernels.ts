import { KERNELS_BASE64, PLAIN_KERNELS_BASE64 } from './kernels-bytes.ts';
import { Arena, type Matrix, type Multiplier, type Pointer, type WasmMemory } from './matrices.ts';

/**
 * The kernels of `assembly/kernels.ts`, each over its own memory. Matrices are row-major float32; sizes and
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
  /** C[m x n] = A[m x k] B, with B in strips [ceil(n / 8)][k][8]. */
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

/** As with its memory: only what is used here, since no library of types declares it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
  validate(bytes: Uint8Array): boolean;
}

const wasm = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;

let compiled: object | undefined;

/** Compiled once, at first use; without relaxed SIMD where the engine lacks it. */
function compiledModule(): object {
  compiled ??= new wasm.Module(usableBytes());
  return compiled;
}

function usableBytes(): Uint8Array {
  const relaxed = Uint8Array.fromBase64(KERNELS_BASE64);
  return wasm.validate(relaxed) ? relaxed : Uint8Array.fromBase64(PLAIN_KERNELS_BASE64);
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

/** Rows multiplied at a time, a multiple of a strip, so that their products are read while still in the cache. */
const CHUNK = 1024;

/** Queries multiplied at a time: as many as the kernel keeps in registers. */
const QUERIES = 6;

/**
 * A growing matrix in wasm memory whose rows lie in strips, [rows / 8][columns][8], the layout that `gemmPacked`
 * reads: for several queries at once, about three times as fast as one query after the other.
 */
export class StripMatrix {
  readonly columns: number;
  readonly #kernels = new Kernels();
  readonly #queries: Pointer;
  readonly #products: Pointer;
  readonly #start: Pointer;
  #rows = 0;

  constructor(columns: number) {
    const { arena } = this.#kernels;
    this.columns = columns;
    this.#queries = arena.floats(QUERIES * columns);
    this.#products = arena.floats(QUERIES * CHUNK);
    this.#start = arena.mark();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Adds a row at the end. */
  push(vector: Float32Array): void {
    const { arena } = this.#kernels;
    const lane = this.#rows % STRIP;
    const length = STRIP * this.columns;
    // The unused lanes of a strip may hold anything: no lane contributes to another lane's products.
    if (lane === 0) arena.floats(length);
    const strip = arena.view(this.#pointer(this.#rows - lane), length);
    for (let i = 0; i < this.columns; i++) strip[i * STRIP + lane] = vector[i]!;
    this.#rows++;
  }

  /** For each row the greatest of its dot products with the queries. */
  greatestDots(queries: readonly Float32Array[]): Float32Array {
    const greatest = new Float32Array(this.#rows).fill(Number.NEGATIVE_INFINITY);
    for (let done = 0; done < queries.length; done += QUERIES) {
      this.#raise(greatest, queries.slice(done, done + QUERIES));
    }
    return greatest;
  }

  #raise(greatest: Float32Array, queries: readonly Float32Array[]): void {
    const { run, arena } = this.#kernels;
    const { columns } = this;
    const count = queries.length;
    const all = arena.view(this.#queries, count * columns);
    for (const [i, query] of queries.entries()) all.set(query, i * columns);
    for (let first = 0; first < this.#rows; first += CHUNK) {
      const rows = Math.min(CHUNK, this.#rows - first);
      // [count x rows] = [count x columns] [rows x columns]^T
      run.gemmPacked(
        count,
        rows,
        columns,
        this.#queries,
        columns,
        this.#pointer(first),
        this.#products,
        rows,
      );
      const products = arena.view(this.#products, count * rows);
      for (let row = 0; row < rows; row++) {
        let most = products[row]!;
        for (let at = row + rows; at < products.length; at += rows) most = larger(most, products[at]!);
        greatest[first + row] = Math.max(greatest[first + row]!, most);
      }
    }
  }

  /** Address of a strip, by its first row. */
  #pointer(row: number): Pointer {
    return this.#start + row * this.columns * Float32Array.BYTES_PER_ELEMENT;
  }
}

/** Without a branch, since no predictor can guess the larger one; exact, since doubles hold sums of floats. */
function larger(a: number, b: number): number {
  return (a + b + Math.abs(a - b)) / 2;
}
