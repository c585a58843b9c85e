import { RowMatrix } from '../../core/numeric/row-matrix.ts';
import { checkVector } from '../../core/retrieval/check-vector.ts';
import type { Neighbour, VectorIndex } from '../../engine/ports.ts';

/** In place of the row of an id that is not there. */
const ABSENT = -1;

/** Exact search over vectors kept in wasm memory. */
export class WasmVectorIndex implements VectorIndex {
  readonly dimension: number;
  readonly #matrix: RowMatrix;
  readonly #ids: string[] = [];
  readonly #rows = new Map<string, number>();
  #asked: { ids: readonly string[]; length: number; rows: Int32Array } | undefined;

  constructor(dimension: number) {
    this.dimension = dimension;
    this.#matrix = new RowMatrix(dimension);
  }

  get size(): number {
    return this.#ids.length;
  }

  set(id: string, vector: Float32Array): void {
    checkVector(vector, this.dimension, id);
    const row = this.#rows.get(id);
    if (row !== undefined) {
      this.#matrix.set(row, vector);
      return;
    }
    this.#asked = undefined;
    this.#matrix.push(vector);
    this.#rows.set(id, this.#ids.length);
    this.#ids.push(id);
  }

  get(id: string): Float32Array | undefined {
    const row = this.#rows.get(id);
    return row === undefined ? undefined : this.#matrix.row(row);
  }

  delete(id: string): boolean {
    const row = this.#rows.get(id);
    if (row === undefined) return false;
    this.#asked = undefined;
    // The matrix fills the gap with its last row, so the ids do the same.
    this.#matrix.remove(row);
    this.#rows.delete(id);
    const last = this.#ids.pop()!;
    if (last !== id) {
      this.#ids[row] = last;
      this.#rows.set(last, row);
    }
    return true;
  }

  nearest(query: Float32Array, k: number): Neighbour[] {
    checkVector(query, this.dimension, 'the query');
    return this.#matrix.nearest(query, k).map(({ row, score }) => ({ id: this.#ids[row]!, score }));
  }

  scores(query: Float32Array, ids: readonly string[]): Float32Array {
    checkVector(query, this.dimension, 'the query');
    const rows = this.#rowsOf(ids);
    const dots = this.#matrix.dots(query);
    const scores = new Float32Array(ids.length);
    for (let i = 0; i < scores.length; i++) scores[i] = rows[i] === ABSENT ? Number.NaN : dots[rows[i]!]!;
    return scores;
  }

  /** Looked up once for a list that is asked for again and again, until rows come or go. */
  #rowsOf(ids: readonly string[]): Int32Array {
    if (this.#asked?.ids !== ids || this.#asked.length !== ids.length) {
      const rows = Int32Array.from(ids, (id) => this.#rows.get(id) ?? ABSENT);
      this.#asked = { ids, length: ids.length, rows };
    }
    return this.#asked.rows;
  }
}
