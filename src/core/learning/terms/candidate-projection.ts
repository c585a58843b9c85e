import { type Floats, type Matrix, type Multiplier, rowOf } from '../../numeric/matrices.ts';
import type { Parameter, RankedCandidates } from '../ranker/rank-term.ts';
import { addTo, Projection, stackRows } from './projection.ts';

/** The rows that went through one projection, and the places they stand for; each place is projected once. */
interface Share {
  readonly projection: Projection;
  readonly rows: readonly number[];
  /** [rows]: which of the projected places each row is. */
  readonly sources: readonly number[];
  /** How many places were projected. */
  readonly size: number;
}

/** Projects vectors of candidates: by one matrix for all, or by one for tools and another for capabilities. */
export class CandidateProjection {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #projections: readonly Projection[];
  readonly #columns: number;
  /** Of the last forward pass. */
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

  /** [places x columns]; places may come again. */
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
