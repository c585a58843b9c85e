import { RowMatrix } from '../numeric/top-k.ts';
import { PmlError } from '../vocabulary/pml-error.ts';

/** Row number of an unknown id. */
const ABSENT = -1;

/** Exact search over vectors in wasm memory. */
export class WasmVectorIndex {
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
    // The matrix moves its last row into the gap, so the ids must do the same.
    this.#matrix.remove(row);
    this.#rows.delete(id);
    const last = this.#ids.pop()!;
    if (last !== id) {
      this.#ids[row] = last;
      this.#rows.set(last, row);
    }
    return true;
  }

  nearest(query: Float32Array, k: number): { id: string; score: number }[] {
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

  /** Cached for a list that is used repeatedly, until rows change. */
  #rowsOf(ids: readonly string[]): Int32Array {
    if (this.#asked?.ids !== ids || this.#asked.length !== ids.length) {
      const rows = Int32Array.from(ids, (id) => this.#rows.get(id) ?? ABSENT);
      this.#asked = { ids, length: ids.length, rows };
    }
    return this.#asked.rows;
  }
}

/** Rejects a vector with another dimension than the model's, or with NaN or infinity. */
export function checkVector(vector: Float32Array, dimension: number, what: string): void {
  if (vector.length !== dimension) {
    throw new PmlError(
      'invalid_argument',
      `The vector of ${what} has ${vector.length} numbers, the index takes ${dimension}`,
      {
        hint: 'Vectors of different embedding models cannot be compared: embed it with the configured model.',
      },
    );
  }
  if (!vector.every(Number.isFinite)) {
    throw new PmlError('invalid_argument', `The vector of ${what} contains a number that is not finite`);
  }
}
