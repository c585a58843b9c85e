export interface Neighbour {
  readonly id: string;
  /** Dot product with the query: the cosine, as all vectors are unit vectors. */
  readonly score: number;
}

export interface VectorIndex {
  readonly dimension: number;
  readonly size: number;
  /** Adds or replaces. */
  set(id: string, vector: Float32Array): void;
  /** A copy. */
  get(id: string): Float32Array | undefined;
  delete(id: string): boolean;
  /** The k best, best first; equal scores in order of insertion. */
  nearest(query: Float32Array, k: number): Neighbour[];
  /** The score of each of these, in their order; NaN where there is no such vector. */
  scores(query: Float32Array, ids: readonly string[]): Float32Array;
}
