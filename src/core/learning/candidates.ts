import type { Matrix } from '../numeric/matrices.ts';

/** What can be ranked, tools and capabilities alike; everything else speaks of them by their place here. */
export interface Candidates {
  readonly size: number;
  /** [size x dimension], unit rows; zeros where nothing is embedded yet. */
  readonly vectors: Matrix;
  /** The words of each one's name. */
  readonly names: readonly (readonly string[])[];
  /** The number of each one's server, from 0. */
  readonly servers: Int32Array;
}
