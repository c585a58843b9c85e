import { Kernels, STRIP } from './kernels.ts';
import type { Pointer } from './matrices.ts';

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
