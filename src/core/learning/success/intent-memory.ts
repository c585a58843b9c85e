import { RowMatrix } from '../../numeric/row-matrix.ts';
import type { NodeId } from '../../vocabulary/ids.ts';

const DEFAULTS = {
  /** The newest runs that are remembered by their intents: 6 MB of vectors at 384 dimensions. */
  capacity: 4096,
  /** Runs that are asked, and how alike their intents must be. */
  nearest: 50,
  least: 0.7,
};

/** A run that was done for an intent. */
export interface IntentRun {
  readonly nodes: ReadonlySet<NodeId>;
  readonly success: boolean;
}

/** An intent as a unit vector, with the model that made it: vectors of two models never mix. */
export interface EmbeddedIntent {
  readonly model: string;
  readonly vector: Float32Array;
}

/** A ring of the newest runs, searched by intent. */
export class IntentMemory {
  readonly #capacity: number;
  #model: string | undefined;
  #vectors: RowMatrix | undefined;
  #runs: IntentRun[] = [];
  #added = 0;

  constructor(capacity = DEFAULTS.capacity) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#runs.length;
  }

  add({ model, vector }: EmbeddedIntent, run: IntentRun): void {
    const vectors = this.#vectorsOf(model, vector.length) ?? this.#startOver(model, vector.length);
    const row = this.#added++ % this.#capacity;
    if (row === this.size) vectors.push(vector);
    else vectors.set(row, vector);
    this.#runs[row] = run;
  }

  /** The nearest runs whose intents have a cosine of at least .7. */
  similarTo({ model, vector }: EmbeddedIntent): IntentRun[] {
    const nearest = this.#vectorsOf(model, vector.length)?.nearest(vector, DEFAULTS.nearest) ?? [];
    return nearest.filter(({ score }) => score >= DEFAULTS.least).map(({ row }) => this.#runs[row]!);
  }

  #vectorsOf(model: string, dimension: number): RowMatrix | undefined {
    return model === this.#model && dimension === this.#vectors?.columns ? this.#vectors : undefined;
  }

  #startOver(model: string, dimension: number): RowMatrix {
    this.#model = model;
    this.#vectors = new RowMatrix(dimension);
    this.#runs = [];
    this.#added = 0;
    return this.#vectors;
  }
}
