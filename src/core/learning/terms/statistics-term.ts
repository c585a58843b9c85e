import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import type { Parameter, RankBatch, RankTerm } from '../ranker/rank-term.ts';
import { HiddenReadout, stackRows } from './projection.ts';

const DEFAULTS = {
  hidden: 16,
  pace: 1,
};

/** Statistics of traces for each candidate. */
const STATISTICS = 17;

export interface StatisticsOptions {
  readonly hidden?: number;
  /** Of the learning rate. */
  readonly pace?: number;
}

/** logit = v . relu(W^T s + b): what traces tell of a candidate, s [17]. Without statistics it says nothing. */
export class StatisticsTerm implements RankTerm {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #readout: HiddenReadout;

  constructor(
    multiplier: Multiplier<Floats>,
    random: Random,
    { hidden = DEFAULTS.hidden, pace = DEFAULTS.pace }: StatisticsOptions = {},
  ) {
    this.#multiplier = multiplier;
    this.#readout = new HiddenReadout(multiplier, 'statistics', STATISTICS, hidden, random, pace);
    this.parameters = this.#readout.parameters;
  }

  forward({ examples, candidates }: RankBatch, logits: readonly Floats[]): void {
    const known = examples.flatMap(({ statistics }) => statistics ?? []);
    const stacked = stackRows(this.#multiplier, known, candidates.size * STATISTICS);
    const scores = this.#readout.forward({
      rows: known.length * candidates.size,
      columns: STATISTICS,
      values: stacked.values,
    });
    let at = 0;
    for (const [i, row] of logits.entries()) {
      if (!examples[i]!.statistics) continue;
      for (let t = 0; t < row.length; t++, at++) row[t]! += scores[at]!;
    }
  }

  backward({ examples, candidates }: RankBatch, slopes: readonly Floats[]): void {
    const known = slopes.filter((_, i) => examples[i]!.statistics);
    this.#readout.backward(stackRows(this.#multiplier, known, candidates.size).values);
  }
}
