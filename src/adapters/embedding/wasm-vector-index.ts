import { RowMatrix } from '../../core/numeric/row-matrix.ts';
import { checkVector } from '../../core/retrieval/check-vector.ts';
import type { Neighbour, VectorIndex } from '../../engine/ports.ts';

/** Exact search over vectors kept in wasm memory. */
export class WasmVectorIndex implements VectorIndex {
  readonly dimension: number;
  readonly #matrix: RowMatrix;
  readonly #ids: string[] = [];
  readonly #rows = new Map<string, number>();

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
    const dots = this.#matrix.dots(query);
    return Float32Array.from(ids, (id) => dots[this.#rows.get(id) ?? -1] ?? Number.NaN);
  }
}
