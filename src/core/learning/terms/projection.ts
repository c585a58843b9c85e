import { type Floats, type Matrix, type Multiplier, rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { createParameter, type Parameter, type RankedCandidates } from '../ranker/rank-term.ts';

/** Multiplier of a term's pace for matrices with one row per dimension of the embedding: they have most numbers. */
export const EMBEDDING_PACE = 1 / 3;

/** y = x W: x [rows x inputs], W [inputs x outputs], y [rows x outputs]. */
export class Projection {
  readonly parameter: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  readonly #weights: Matrix<Floats>;
  /** From the last forward pass. */
  #inputs: Matrix<Floats> | undefined;

  /** `start` is [inputs x outputs]. */
  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    start: Matrix<Floats>,
    options: { readonly pace?: number; readonly isHeld?: boolean } = {},
  ) {
    this.#multiplier = multiplier;
    this.parameter = createParameter(multiplier, name, start.values, options);
    this.#weights = { rows: start.rows, columns: start.columns, values: this.parameter.values };
  }

  forward(inputs: Matrix<Floats>): Matrix<Floats> {
    this.#inputs = inputs;
    return this.#multiplier.times(inputs, this.#weights);
  }

  /** dW += x^T dy */
  backward(slopes: Matrix<Floats>): void {
    addTo(this.parameter.slopes, this.#multiplier.transposedTimes(this.#inputs!, slopes).values);
  }

  /** dx = dy W^T */
  slopesOfInputs(slopes: Matrix<Floats>): Matrix<Floats> {
    return this.#multiplier.timesTransposed(slopes, this.#weights);
  }
}

/** sums += values, from `at` on. */
export function addTo(sums: Floats, values: Floats, at = 0): void {
  for (let i = 0; i < values.length; i++) sums[at + i]! += values[i]!;
}

/** Rows of equal length below each other: [rows x columns]. */
export function stackRows(
  multiplier: Multiplier<Floats>,
  rows: readonly Floats[],
  columns: number,
): Matrix<Floats> {
  const values = multiplier.floats(rows.length * columns);
  for (const [i, row] of rows.entries()) values.set(row, i * columns);
  return { rows: rows.length, columns, values };
}

/** [rows x columns] of N(0, variance). */
export function randomStart(rows: number, columns: number, variance: number, random: Random): Matrix<Floats> {
  const deviation = Math.sqrt(variance);
  const values = Float64Array.from({ length: rows * columns }, () => deviation * random.normal());
  return { rows, columns, values };
}

/** The rows that went through one projection, and their candidates; each candidate is projected once. */
interface Share {
  readonly projection: Projection;
  readonly rows: readonly number[];
  /** [rows]: index of each row among the projected candidates. */
  readonly sources: readonly number[];
  /** Number of projected candidates. */
  readonly size: number;
}

/** Projects vectors of candidates: by one matrix for all, or by separate ones for tools and capabilities. */
export class CandidateProjection {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #projections: readonly Projection[];
  readonly #columns: number;
  /** From the last forward pass. */
  #shares: readonly Share[] = [];

  /** `start` is [dimension x columns], the same for both kinds. */
  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    start: Matrix<Floats>,
    { isSeparate = false, pace = 1 }: { readonly isSeparate?: boolean; readonly pace?: number } = {},
  ) {
    const names = isSeparate ? [`${name}.tools`, `${name}.capabilities`] : [name];
    this.#multiplier = multiplier;
    this.#columns = start.columns;
    this.#projections = names.map((own) => new Projection(multiplier, own, start, { pace }));
    this.parameters = this.#projections.map(({ parameter }) => parameter);
  }

  /** [places x columns]; places may repeat. */
  forward({ vectors, size, tools = size }: RankedCandidates, places: readonly number[]): Matrix<Floats> {
    const columns = this.#columns;
    const values = this.#multiplier.floats(places.length * columns);
    const projectionOf = (place: number) =>
      this.#projections[place < tools ? 0 : this.#projections.length - 1]!;
    const byProjection = Map.groupBy(places.keys(), (row) => projectionOf(places[row]!));
    this.#shares = [...byProjection].map(([projection, rows]) => {
      const distinct = [...new Set(rows.map((row) => places[row]!))];
      const sourceOf = new Map(distinct.map((place, source) => [place, source]));
      const sources = rows.map((row) => sourceOf.get(places[row]!)!);
      const inputs = stackRows(
        this.#multiplier,
        distinct.map((place) => rowOf(vectors, place)),
        vectors.columns,
      );
      const outputs = projection.forward(inputs);
      for (const [i, row] of rows.entries()) values.set(rowOf(outputs, sources[i]!), row * columns);
      return { projection, rows, sources, size: distinct.length };
    });
    return { rows: places.length, columns, values };
  }

  /** After `forward`, with slopes [places x columns]. */
  backward(slopes: Matrix<Floats>): void {
    const columns = this.#columns;
    for (const { projection, rows, sources, size } of this.#shares) {
      const sums = this.#multiplier.floats(size * columns);
      for (const [i, row] of rows.entries()) addTo(sums, rowOf(slopes, row), sources[i]! * columns);
      projection.backward({ rows: size, columns, values: sums });
    }
  }
}

/** Intents and candidates projected into one space, each kind by its own matrix. */
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

  /** All intents, then all places, below each other: [intents + places x columns]. */
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

/** score = v . relu(x W + b), one number per row of x. v starts at 0 and W at random, so it starts at 0 and learns. */
export class HiddenReadout {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #inward: Projection;
  readonly #bias: Parameter;
  readonly #outward: Parameter;
  /** From the last forward pass. [rows x hidden] */
  #activations: Matrix<Floats> | undefined;

  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    inputs: number,
    hidden: number,
    random: Random,
    pace = 1,
  ) {
    const start = randomStart(inputs, hidden, 1 / inputs, random);
    const none = new Float32Array(hidden);
    this.#multiplier = multiplier;
    this.#inward = new Projection(multiplier, `${name}.inward`, start, { pace, isHeld: true });
    this.#bias = createParameter(multiplier, `${name}.bias`, none, { pace, isHeld: true });
    this.#outward = createParameter(multiplier, `${name}.outward`, none, { pace, isHeld: true });
    this.parameters = [this.#inward.parameter, this.#bias, this.#outward];
  }

  /** [rows] */
  forward(inputs: Matrix<Floats>): Floats {
    const activations = this.#inward.forward(inputs);
    this.#activations = activations;
    const { rows, columns, values } = activations;
    const [bias, outward] = [this.#bias.values, this.#outward.values];
    const scores = this.#multiplier.floats(rows);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let c = 0; c < columns; c++, at++) {
        values[at] = Math.max(0, values[at]! + bias[c]!);
        scores[row]! += outward[c]! * values[at]!;
      }
    }
    return scores;
  }

  /** After `forward`, with slopes [rows]; returns those of the inputs. */
  backward(slopes: Floats): Matrix<Floats> {
    const { rows, columns, values } = this.#activations!;
    const outward = this.#outward.values;
    const back = this.#multiplier.floats(values.length);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let c = 0; c < columns; c++, at++) {
        this.#outward.slopes[c]! += slopes[row]! * values[at]!;
        if (values[at]! > 0) back[at] = slopes[row]! * outward[c]!;
        this.#bias.slopes[c]! += back[at]!;
      }
    }
    const hidden: Matrix<Floats> = { rows, columns, values: back };
    this.#inward.backward(hidden);
    return this.#inward.slopesOfInputs(hidden);
  }
}
