import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { shortlist } from '../../numeric/top-k.ts';
import { WIDTH } from '../ranker/rank-features.ts';
import { createParameter, type Parameter, type RankBatch, type RankTerm } from '../ranker/rank-term.ts';
import {
  addTo,
  CandidateProjection,
  EMBEDDING_PACE,
  HiddenReadout,
  Projection,
  randomStart,
  stackRows,
} from './projection.ts';
import { type AttentionSlopes, columnsFor } from './ragged-attention.ts';

const DEFAULTS = {
  heads: 4,
  hidden: 32,
  /** Candidates of a query that attend to each other. */
  most: 50,
  /** Vectors add hundreds of inputs per candidate; features alone make the smaller model. */
  hasVectors: false,
  /** Multiplier of the learning rate: many numbers for few runs. */
  pace: 0.1,
};

export interface CandidateAttentionOptions {
  readonly heads?: number;
  readonly hidden?: number;
  readonly most?: number;
  /** Whether the input has a candidate's vector besides its features. */
  readonly hasVectors?: boolean;
  /** Whether capabilities have their own projection. */
  readonly isSeparate?: boolean;
  /** Multiplier of the learning rate. */
  readonly pace?: number;
}

/**
 * The best candidates of a query attend to each other before they are ranked (Pang et al., "SetRank", 2020):
 * X = F Wf + E We, Y = X + attention(X Wq, X Wk, X Wv), logit = v . relu(Y W + b). The others get 0.
 */
export class CandidateAttentionTerm implements RankTerm {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #most: number;
  readonly #features: Projection;
  readonly #vectors: CandidateProjection | undefined;
  /** Projections to queries, keys and values. */
  readonly #projections: readonly [Projection, Projection, Projection];
  readonly #attention: BlockAttention;
  readonly #readout: HiddenReadout;
  /** From the last forward pass: indices of each example's best candidates. */
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
    // So that a unit vector has the same weight as a standardised feature row.
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
    // [rows x columns], one row per example and candidate.
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

/** Backward pass through a projection of the states; adds to the slopes of the states. */
function passBack(projection: Projection, slopes: Matrix<Floats>, states: Matrix<Floats>): void {
  projection.backward(slopes);
  addTo(states.values, projection.slopesOfInputs(slopes).values);
}

/** One head within one block, from the last forward pass; n rows in the block. */
interface Cell {
  readonly first: number;
  readonly head: number;
  /** [n x width] each */
  readonly queries: Matrix<Floats>;
  readonly keys: Matrix<Floats>;
  readonly values: Matrix<Floats>;
  /** [n x n]: query . key, and its softmax along rows. */
  readonly products: Matrix<Floats>;
  readonly weights: Matrix<Floats>;
}

/**
 * Like `RaggedAttention` for rows in blocks, where each row sees its whole block: this consists of matrix
 * products, A_h = softmax(s_h Q_h K_h^T) and out_h = A_h V_h.
 */
export class BlockAttention {
  readonly sharpness: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  readonly #heads: number;
  #cells: readonly Cell[] = [];

  /** `sharpness` is the start value; it is learned as a factor. */
  constructor(multiplier: Multiplier<Floats>, name: string, heads: number, sharpness: number, pace = 1) {
    this.#multiplier = multiplier;
    this.#heads = heads;
    this.sharpness = createParameter(multiplier, name, new Array<number>(heads).fill(sharpness), {
      pace: pace * sharpness,
      isHeld: true,
    });
  }

  /** [rows x columns], with blocks of these sizes below each other. Columns are a multiple of heads. */
  forward(
    queries: Matrix<Floats>,
    keys: Matrix<Floats>,
    values: Matrix<Floats>,
    sizes: readonly number[],
  ): Matrix<Floats> {
    const out = this.#empty(queries);
    const cells: Cell[] = [];
    let first = 0;
    for (const size of sizes) {
      for (let head = 0; size > 0 && head < this.#heads; head++) {
        const [q, k, v] = [queries, keys, values].map((matrix) => this.#cut(matrix, first, size, head)) as [
          Matrix<Floats>,
          Matrix<Floats>,
          Matrix<Floats>,
        ];
        const products = this.#multiplier.timesTransposed(q, k);
        const weights = softmaxOfRows(products, this.sharpness.values[head]!);
        this.#paste(this.#multiplier.times(weights, v), out, first, head);
        cells.push({ first, head, queries: q, keys: k, values: v, products, weights });
      }
      first += size;
    }
    this.#cells = cells;
    return out;
  }

  /** After `forward`, with slopes [rows x columns]. */
  backward(slopes: Matrix<Floats>): AttentionSlopes {
    const back = { queries: this.#empty(slopes), keys: this.#empty(slopes), values: this.#empty(slopes) };
    for (const { first, head, queries, keys, values, products, weights } of this.#cells) {
      const own = this.#cut(slopes, first, queries.rows, head);
      this.#paste(this.#multiplier.transposedTimes(weights, own), back.values, first, head);
      const scores = this.#multiplier.timesTransposed(own, values);
      softmaxBack(scores, weights);
      const sharpness = this.sharpness.values[head]!;
      for (let i = 0; i < scores.values.length; i++) {
        this.sharpness.slopes[head]! += scores.values[i]! * products.values[i]!;
        scores.values[i]! *= sharpness;
      }
      this.#paste(this.#multiplier.times(scores, keys), back.queries, first, head);
      this.#paste(this.#multiplier.transposedTimes(scores, queries), back.keys, first, head);
    }
    return back;
  }

  /** The columns of one head in some rows, [size x width]. */
  #cut({ columns, values }: Matrix<Floats>, first: number, size: number, head: number): Matrix<Floats> {
    const width = columns / this.#heads;
    const cut = this.#multiplier.floats(size * width);
    for (let row = 0; row < size; row++) {
      const at = (first + row) * columns + head * width;
      cut.set(values.subarray(at, at + width), row * width);
    }
    return { rows: size, columns: width, values: cut };
  }

  #paste(cut: Matrix<Floats>, { columns, values }: Matrix<Floats>, first: number, head: number): void {
    const width = cut.columns;
    for (let row = 0; row < cut.rows; row++) {
      const own = cut.values.subarray(row * width, (row + 1) * width);
      values.set(own, (first + row) * columns + head * width);
    }
  }

  #empty({ rows, columns, values }: Matrix<Floats>): Matrix<Floats> {
    return { rows, columns, values: this.#multiplier.floats(values.length) };
  }
}

function softmaxOfRows({ rows, columns, values }: Matrix<Floats>, sharpness: number): Matrix<Floats> {
  const weights = values.slice();
  for (let row = 0; row < rows; row++) {
    const [first, last] = [row * columns, (row + 1) * columns];
    let highest = Number.NEGATIVE_INFINITY;
    for (let i = first; i < last; i++) highest = Math.max(highest, sharpness * values[i]!);
    let sum = 0;
    for (let i = first; i < last; i++) {
      weights[i] = Math.exp(sharpness * values[i]! - highest);
      sum += weights[i]!;
    }
    for (let i = first; i < last; i++) weights[i]! /= sum;
  }
  return { rows, columns, values: weights };
}

/** In place, from slopes of the weights to slopes of the scores: weight (slope - mean slope). */
function softmaxBack({ rows, columns, values }: Matrix<Floats>, { values: weights }: Matrix<Floats>): void {
  for (let row = 0; row < rows; row++) {
    const [first, last] = [row * columns, (row + 1) * columns];
    let mean = 0;
    for (let i = first; i < last; i++) mean += weights[i]! * values[i]!;
    for (let i = first; i < last; i++) values[i] = weights[i]! * (values[i]! - mean);
  }
}
