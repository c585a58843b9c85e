import type { Pointer } from './arena.ts';
import { Kernels } from './kernels.ts';
import { type Scored, TopK } from './top-k.ts';

/** Rows scored at a time: their scores are read while they are still in the cache. */
const CHUNK = 1024;
/** Floats of one vector register; rows are padded to a multiple with zeros, so they lie end to end. */
const LANES = 4;

/** A growing row-major matrix in wasm memory, and the exact search for its rows nearest to a query. */
export class RowMatrix {
  readonly columns: number;
  readonly #kernels = new Kernels();
  readonly #stride: number;
  readonly #query: Pointer;
  readonly #scores: Pointer;
  readonly #start: Pointer;
  /** The place of each row in the order of insertion: removal moves rows, ties must not notice. */
  readonly #ranks: number[] = [];
  #inserted = 0;

  constructor(columns: number) {
    const { arena } = this.#kernels;
    this.columns = columns;
    this.#stride = Math.ceil(columns / LANES) * LANES;
    this.#query = arena.floats(this.#stride);
    this.#scores = arena.floats(CHUNK);
    this.#start = arena.mark();
    arena.view(this.#query, this.#stride).fill(0);
  }

  get rows(): number {
    return this.#ranks.length;
  }

  /** Adds a row at the end. */
  push(vector: Float32Array): void {
    const row = this.rows;
    this.#ranks.push(this.#inserted++);
    this.#kernels.arena.floats(this.#stride);
    this.#view(row).fill(0, this.columns);
    this.set(row, vector);
  }

  set(row: number, vector: Float32Array): void {
    this.#view(row).set(vector);
  }

  /** A copy. */
  row(row: number): Float32Array {
    return this.#view(row).slice(0, this.columns);
  }

  /** Removes a row by moving the last one into its place. */
  remove(row: number): void {
    const last = this.rows - 1;
    if (row < last) {
      this.set(row, this.#view(last));
      this.#ranks[row] = this.#ranks[last]!;
    }
    this.#ranks.pop();
    this.#kernels.arena.release(this.#pointer(last));
  }

  /** The k rows with the largest dot product, best first; of equals the one inserted first. */
  nearest(query: Float32Array, k: number): Scored[] {
    const best = new TopK(k);
    this.#multiply(query, (first, scores) => {
      for (let i = 0; i < scores.length; i++) best.offer(first + i, scores[i]!, this.#ranks[first + i]);
    });
    return best.sorted();
  }

  /** The dot product of every row and the query. */
  dots(query: Float32Array): Float32Array {
    const dots = new Float32Array(this.rows);
    this.#multiply(query, (first, scores) => dots.set(scores, first));
    return dots;
  }

  /** Chunk by chunk; the scores are a view that the next chunk overwrites. */
  #multiply(query: Float32Array, take: (first: number, scores: Float32Array) => void): void {
    const { run, arena } = this.#kernels;
    arena.view(this.#query, this.columns).set(query);
    for (let first = 0; first < this.rows; first += CHUNK) {
      const rows = Math.min(CHUNK, this.rows - first);
      run.dotRows(rows, this.#stride, this.#pointer(first), this.#query, this.#scores);
      take(first, arena.view(this.#scores, rows));
    }
  }

  #pointer(row: number): Pointer {
    return this.#start + row * this.#stride * Float32Array.BYTES_PER_ELEMENT;
  }

  #view(row: number): Float32Array {
    return this.#kernels.arena.view(this.#pointer(row), this.#stride);
  }
}
