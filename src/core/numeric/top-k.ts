import { Kernels } from './kernels.ts';
import type { Floats, Pointer } from './matrices.ts';

export interface Scored {
  readonly row: number;
  readonly score: number;
}

/**
 * The k best of a stream of scored rows: a binary heap with the worst kept row at its root, so that
 * rejecting a row costs one comparison. Of equal scores, the lower rank is better;
 * NaN is worse than any number.
 */
export class TopK {
  readonly #k: number;
  readonly #rows: number[] = [];
  readonly #scores: number[] = [];
  readonly #ranks: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  offer(row: number, score: number, rank: number = row): void {
    const value = Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
    const size = this.#rows.length;
    if (size < this.#k) {
      this.#place(size, row, value, rank);
      this.#siftUp(size);
    } else if (size > 0 && this.#isBetter(value, rank, 0)) {
      this.#place(0, row, value, rank);
      this.#siftDown(0);
    }
  }

  /** Best first. */
  sorted(): Scored[] {
    const order = this.#rows.map((_, i) => i);
    order.sort((i, j) => this.#scores[j]! - this.#scores[i]! || this.#ranks[i]! - this.#ranks[j]!);
    return order.map((i) => ({ row: this.#rows[i]!, score: this.#scores[i]! }));
  }

  #place(i: number, row: number, score: number, rank: number): void {
    this.#rows[i] = row;
    this.#scores[i] = score;
    this.#ranks[i] = rank;
  }

  #isBetter(score: number, rank: number, than: number): boolean {
    const other = this.#scores[than]!;
    return score > other || (score === other && rank < this.#ranks[than]!);
  }

  #isWorse(i: number, j: number): boolean {
    return this.#isBetter(this.#scores[j]!, this.#ranks[j]!, i);
  }

  #siftUp(start: number): void {
    for (let i = start; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!this.#isWorse(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #siftDown(start: number): void {
    const size = this.#rows.length;
    for (let i = start; ; ) {
      const left = 2 * i + 1;
      if (left >= size) return;
      const right = left + 1;
      const worst = right < size && this.#isWorse(right, left) ? right : left;
      if (!this.#isWorse(worst, i)) return;
      this.#swap(i, worst);
      i = worst;
    }
  }

  #swap(i: number, j: number): void {
    const [row, score, rank] = [this.#rows[i]!, this.#scores[i]!, this.#ranks[i]!];
    this.#place(i, this.#rows[j]!, this.#scores[j]!, this.#ranks[j]!);
    this.#place(j, row, score, rank);
  }
}

/**
 * Indices of the `most` largest logits, best first: expensive terms are computed for these only. In an
 * untrained model they are the best results of search.
 */
export function shortlist(logits: Floats, most: number): number[] {
  const best = new TopK(most);
  for (let place = 0; place < logits.length; place++) best.offer(place, logits[place]!);
  return best.sorted().map(({ row }) => row);
}

/** Rows scored at a time, so that their scores are read while they are still in the cache. */
const CHUNK = 1024;
/** Floats of one vector register; rows are padded with zeros to a multiple of it, so that they are contiguous. */
const LANES = 4;

/** A growing row-major matrix in wasm memory, with an exact search for the rows nearest to a query. */
export class RowMatrix {
  readonly columns: number;
  readonly #kernels = new Kernels();
  readonly #stride: number;
  readonly #query: Pointer;
  readonly #scores: Pointer;
  readonly #start: Pointer;
  /** Insertion order of each row, which breaks ties: removal moves rows and must not change the result. */
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

  /** The k rows with the largest dot product, best first; ties go to the row inserted first. */
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

  /** Works in chunks; `take` gets a view of the scores that the next chunk overwrites. */
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
