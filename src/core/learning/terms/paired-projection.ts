import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Parameter, RankedCandidates } from '../ranker/rank-term.ts';
import { CandidateProjection } from './candidate-projection.ts';
import { addTo, Projection } from './projection.ts';

/** Intents and candidates projected into one space, each kind by a matrix of its own. */
export class PairedProjection {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #intents: Projection;
  readonly #candidates: CandidateProjection;

  /** `start` is [dimension x columns], the same for all. */
  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    start: Matrix<Floats>,
    options: { readonly isSeparate: boolean; readonly pace: number },
  ) {
    this.#multiplier = multiplier;
    this.#intents = new Projection(multiplier, `${name}.intents`, start, options);
    this.#candidates = new CandidateProjection(multiplier, `${name}.candidates`, start, options);
    this.parameters = [this.#intents.parameter, ...this.#candidates.parameters];
  }

  /** All intents, then all places, one below the other: [intents + places x columns]. */
  forwardStacked(
    intents: Matrix<Floats>,
    candidates: RankedCandidates,
    places: readonly number[],
  ): Matrix<Floats> {
    const above = this.#intents.forward(intents);
    const below = this.#candidates.forward(candidates, places);
    const values = this.#multiplier.floats(above.values.length + below.values.length);
    values.set(above.values);
    values.set(below.values, above.values.length);
    return { rows: above.rows + below.rows, columns: above.columns, values };
  }

  /** After `forwardStacked`, with the number of intents. */
  backwardStacked({ rows, columns, values }: Matrix<Floats>, intents: number): void {
    const cut = intents * columns;
    this.#intents.backward({ rows: intents, columns, values: values.slice(0, cut) });
    this.#candidates.backward({ rows: rows - intents, columns, values: values.slice(cut) });
  }

  /**
   * [places x columns]: a projection of [intent; candidate] for each place, whose intent is in row `owners[i]`.
   * A matrix times two stacked vectors is a sum, so each vector is multiplied only once.
   */
  forwardSummed(
    intents: Matrix<Floats>,
    candidates: RankedCandidates,
    places: readonly number[],
    owners: readonly number[],
  ): Matrix<Floats> {
    const shared = this.#intents.forward(intents);
    const sums = this.#candidates.forward(candidates, places);
    const { columns, values } = sums;
    for (const [row, owner] of owners.entries()) {
      for (let c = 0; c < columns; c++) values[row * columns + c]! += shared.values[owner * columns + c]!;
    }
    return sums;
  }

  /** After `forwardSummed` with the same owners, and the number of intents. */
  backwardSummed(slopes: Matrix<Floats>, owners: readonly number[], intents: number): void {
    const { columns, values } = slopes;
    const shared = this.#multiplier.floats(intents * columns);
    for (const [row, owner] of owners.entries()) {
      addTo(shared, values.subarray(row * columns, (row + 1) * columns), owner * columns);
    }
    this.#intents.backward({ rows: intents, columns, values: shared });
    this.#candidates.backward(slopes);
  }
}
