import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Parameter, RankBatch, RankTerm } from './rank-term.ts';

/** The ranker: the logits of all its terms, summed. */
export class RankModel {
  readonly terms: readonly RankTerm[];
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;

  constructor(multiplier: Multiplier<Floats>, terms: readonly RankTerm[]) {
    this.#multiplier = multiplier;
    this.terms = terms;
    this.parameters = terms.flatMap(({ parameters }) => parameters);
  }

  /** Whether examples need more of the past than features. */
  get wantsPast(): boolean {
    return this.terms.some(({ wantsPast }) => wantsPast === true);
  }

  /** Takes back part of what was learned: 1 leaves all of it, 0 ranks as search does. */
  temper(trust: number): void {
    for (const term of this.terms) term.temper?.(trust);
  }

  /** [candidates] for each example. */
  forward(batch: RankBatch): Floats[] {
    const logits = batch.examples.map(() => this.#multiplier.floats(batch.candidates.size));
    for (const term of this.terms) term.forward(batch, logits);
    return logits;
  }

  /** Adds to the slopes of all parameters. */
  backward(batch: RankBatch, slopes: readonly Floats[]): void {
    for (const term of this.terms) term.backward(batch, slopes);
  }
}
