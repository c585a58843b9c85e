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

/**
 * The same in a database, for more vectors than memory should hold: each answer is waited for, and the nearest are
 * nearly always those that looking at all of them would find.
 */
export interface StoredVectorIndex {
  readonly dimension: number;
  readonly size: Promise<number>;
  set(id: string, vector: Float32Array): Promise<void>;
  get(id: string): Promise<Float32Array | undefined>;
  delete(id: string): Promise<boolean>;
  nearest(query: Float32Array, k: number): Promise<Neighbour[]>;
  scores(query: Float32Array, ids: readonly string[]): Promise<Float32Array>;
}
