import { StripMatrix } from '../../numeric/strip-matrix.ts';

/** Numbers of a vector by which it is looked up; whole vectors are compared then. */
const LOOKED_AT = 3;

/**
 * Vectors of which each is kept once: people say the same again and again, and whoever compares a question with
 * thousands of things said need not do so twice.
 */
export class DistinctVectors {
  readonly #rows: StripMatrix;
  readonly #vectors: Float32Array[] = [];
  readonly #alike = new Map<string, number[]>();

  constructor(columns: number) {
    this.#rows = new StripMatrix(columns);
  }

  get size(): number {
    return this.#vectors.length;
  }

  /** Its row: that of an equal one, if there is one. The vector must not change from now on. */
  add(vector: Float32Array): number {
    const key = vector.subarray(0, LOOKED_AT).join();
    const alike = this.#alike.get(key) ?? [];
    const known = alike.find((row) => isEqual(this.#vectors[row]!, vector));
    if (known !== undefined) return known;
    const row = this.#vectors.push(vector) - 1;
    this.#rows.push(vector);
    this.#alike.set(key, [...alike, row]);
    return row;
  }

  /** For each row the greatest of its dot products with the queries. */
  greatestDots(queries: readonly Float32Array[]): Float32Array {
    return this.#rows.greatestDots(queries);
  }
}

function isEqual(a: Float32Array, b: Float32Array): boolean {
  if (a === b) return true;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
