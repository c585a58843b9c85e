import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { WIDTH } from '../ranker/rank-features.ts';
import type { Parameter, RankBatch, RankTerm } from '../ranker/rank-term.ts';
import { BlockAttention } from './block-attention.ts';
import { CandidateProjection } from './candidate-projection.ts';
import { HiddenReadout } from './hidden-readout.ts';
import { addTo, EMBEDDING_PACE, Projection, randomStart, stackRows } from './projection.ts';
import { columnsFor } from './ragged-attention.ts';
import { shortlist } from './shortlist.ts';

const DEFAULTS = {
  heads: 4,
  hidden: 32,
  /** Candidates of a query that look at each other. */
  most: 50,
  /** Hundreds of inputs more for each candidate; features alone are the smaller model. */
  hasVectors: false,
  /** Of the learning rate: many numbers for few runs. */
  pace: 0.1,
};

export interface CandidateAttentionOptions {
  readonly heads?: number;
  readonly hidden?: number;
  readonly most?: number;
  /** Whether a candidate shows its vector beside its features. */
  readonly hasVectors?: boolean;
  /** Whether capabilities have a projection of their own. */
  readonly isSeparate?: boolean;
  /** Of the learning rate. */
  readonly pace?: number;
}

/**
 * The best candidates of a query look at each other before they are ranked (Pang et al., "SetRank", 2020):
 * X = F Wf + E We, Y = X + attention(X Wq, X Wk, X Wv), logit = v . relu(Y W + b). The others get nothing.
 */
export class CandidateAttentionTerm implements RankTerm {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #most: number;
  readonly #features: Projection;
  readonly #vectors: CandidateProjection | undefined;
  /** To queries, keys and values. */
  readonly #projections: readonly [Projection, Projection, Projection];
  readonly #attention: BlockAttention;
  readonly #readout: HiddenReadout;
  /** Of the last forward pass: places of each example's best. */
  #best: readonly (readonly number[])[] = [];

  constructor(
    multiplier: Multiplier<Floats>,
    dimension: number,
    random: Random,
    {
      heads = DEFAULTS.heads,
      hidden = DEFAULTS.hidden,
      most = DEFAULTS.most,
      hasVectors = DEFAULTS.hasVectors,
      isSeparate = false,
      pace = DEFAULTS.pace,
    }: CandidateAttentionOptions = {},
  ) {
    const columns = columnsFor(hidden, heads);
    const square = (name: string) =>
      new Projection(
        multiplier,
        `candidate_attention.${name}`,
        randomStart(columns, columns, 1 / columns, random),
        { pace },
      );
    this.#multiplier = multiplier;
    this.#most = most;
    this.#features = new Projection(
      multiplier,
      'candidate_attention.features',
      randomStart(WIDTH, columns, 1 / WIDTH, random),
      { pace },
    );
    // A unit vector then weighs as much as a standardised feature row.
    this.#vectors = hasVectors
      ? new CandidateProjection(
          multiplier,
          'candidate_attention.vectors',
          randomStart(dimension, columns, 1, random),
          { isSeparate, pace: EMBEDDING_PACE * pace },
        )
      : undefined;
    this.#projections = [square('queries'), square('keys'), square('values')];
    this.#attention = new BlockAttention(
      multiplier,
      'candidate_attention.sharpness',
      heads,
      1 / Math.sqrt(columns / heads),
      pace,
    );
    this.#readout = new HiddenReadout(multiplier, 'candidate_attention', columns, columns, random, pace);
    this.parameters = [
      this.#features.parameter,
      ...(this.#vectors?.parameters ?? []),
      ...this.#projections.map(({ parameter }) => parameter),
      this.#attention.sharpness,
      ...this.#readout.parameters,
    ];
  }

  forward({ examples, candidates }: RankBatch, logits: readonly Floats[]): void {
    this.#best = logits.map((row) => shortlist(row, this.#most));
    const features = examples.flatMap(({ features }, i) =>
      this.#best[i]!.map((place) => features.subarray(place * WIDTH, (place + 1) * WIDTH)),
    );
    // [rows x columns], a row for each example and place.
    const states = this.#features.forward(stackRows(this.#multiplier, features, WIDTH));
    if (this.#vectors) addTo(states.values, this.#vectors.forward(candidates, this.#best.flat()).values);
    const [queries, keys, values] = this.#projections;
    const heard = this.#attention.forward(
      queries.forward(states),
      keys.forward(states),
      values.forward(states),
      this.#best.map(({ length }) => length),
    );
    addTo(heard.values, states.values);
    const scores = this.#readout.forward(heard);
    let at = 0;
    for (const [i, places] of this.#best.entries()) {
      for (const place of places) logits[i]![place]! += scores[at++]!;
    }
  }

  backward(_: RankBatch, slopes: readonly Floats[]): void {
    const own = this.#best.flatMap((places, i) => places.map((place) => slopes[i]![place]!));
    const scores = this.#multiplier.floats(own.length);
    scores.set(own);
    const states = this.#readout.backward(scores);
    const back = this.#attention.backward(states);
    const [queries, keys, values] = this.#projections;
    passBack(queries, back.queries, states);
    passBack(keys, back.keys, states);
    passBack(values, back.values, states);
    this.#features.backward(states);
    this.#vectors?.backward(states);
  }
}

/** Through a projection of the states, to whose slopes it adds. */
function passBack(projection: Projection, slopes: Matrix<Floats>, states: Matrix<Floats>): void {
  projection.backward(slopes);
  addTo(states.values, projection.slopesOfInputs(slopes).values);
}
