import { type Floats, type Matrix, type Multiplier, rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { shortlist } from '../../numeric/top-k.ts';
import {
  createParameter,
  type Parameter,
  type RankBatch,
  type RankExample,
  type RankTerm,
} from '../ranker/rank-term.ts';
import { addTo, EMBEDDING_PACE, PairedProjection, randomStart, stackRows } from './projection.ts';
import { columnsFor, RaggedAttention, raggedLists } from './ragged-attention.ts';

const DEFAULTS = {
  heads: 8,
  hidden: 64,
  /** Candidates of a query that are ranked by this term; the others get 0. */
  most: 64,
  nearest: 8,
  context: 5,
  /** Start sharpness of attention, per cosine. */
  sharpness: 8,
  /** Unit vectors have small products: without this factor the output weights would need many steps. */
  scale: 20,
  /** Multiplier of the learning rate: many numbers for few runs. */
  pace: 0.1,
};

export interface SetAttentionOptions extends Partial<SetLimits> {
  readonly heads?: number;
  readonly hidden?: number;
  readonly most?: number;
  /** Whether capabilities have their own projections. */
  readonly isSeparate?: boolean;
  /** Multiplier of the learning rate. */
  readonly pace?: number;
}

/**
 * Each candidate attends to a set (the intent, the candidates used before, the past intents it succeeded for) with
 * K heads. The query is a projection of [intent; candidate], and so is the vector that the result O is compared
 * with: logit = scale sum_h u_h O_h . (q Wm + e Wn)_h + v . O, where u and v start at 0. All projections start equal
 * up to scale, so that products start near the cosine.
 */
export class SetAttentionTerm implements RankTerm {
  readonly wantsPast = true;
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #limits: SetLimits;
  readonly #most: number;
  readonly #columns: number;
  readonly #queries: PairedProjection;
  readonly #matches: PairedProjection;
  readonly #keys: PairedProjection;
  readonly #values: PairedProjection;
  /** [TOKEN_KINDS x columns]: added to the key and value of a row of the set, by its kind. */
  readonly #keyKinds: Parameter;
  readonly #valueKinds: Parameter;
  readonly #attention: RaggedAttention;
  /** u: [heads], v: [columns] */
  readonly #headGates: Parameter;
  readonly #outward: Parameter;
  /** From the last forward pass: indices of each example's best candidates, the example of each, and their sets. */
  #best: readonly (readonly number[])[] = [];
  #owners: readonly number[] = [];
  #set: AttentionSet | undefined;
  /** [rows x columns] twice, one row per example and candidate: O, and the vector it is compared with. */
  #heard: Matrix<Floats> | undefined;
  #met: Matrix<Floats> | undefined;

  constructor(
    multiplier: Multiplier<Floats>,
    dimension: number,
    random: Random,
    {
      heads = DEFAULTS.heads,
      hidden = DEFAULTS.hidden,
      most = DEFAULTS.most,
      nearest = DEFAULTS.nearest,
      context = DEFAULTS.context,
      isSeparate = false,
      pace = DEFAULTS.pace,
    }: SetAttentionOptions = {},
  ) {
    const columns = columnsFor(hidden, heads);
    const start = randomStart(dimension, columns, 1 / columns, random);
    // A head sees a share of the columns, and so a share of the cosine.
    const sharpness = DEFAULTS.sharpness * heads;
    const paired = (name: string) =>
      new PairedProjection(multiplier, `set_attention.${name}`, start, {
        isSeparate,
        pace: EMBEDDING_PACE * pace,
      });
    this.#multiplier = multiplier;
    this.#limits = { nearest, context };
    this.#most = most;
    this.#columns = columns;
    this.#queries = paired('queries');
    this.#matches = paired('matches');
    this.#keys = paired('keys');
    this.#values = paired('values');
    this.#keyKinds = createParameter(
      multiplier,
      'set_attention.key_kinds',
      new Float32Array(TOKEN_KINDS * columns),
      { pace, isHeld: true },
    );
    this.#valueKinds = createParameter(
      multiplier,
      'set_attention.value_kinds',
      randomStart(TOKEN_KINDS, columns, 1 / columns, random).values,
      { pace, isHeld: true },
    );
    this.#attention = new RaggedAttention(multiplier, 'set_attention.sharpness', heads, sharpness, pace);
    this.#headGates = createParameter(multiplier, 'set_attention.head_gates', new Float32Array(heads), {
      pace,
      isHeld: true,
    });
    this.#outward = createParameter(multiplier, 'set_attention.outward', new Float32Array(columns), {
      pace,
      isHeld: true,
    });
    this.parameters = [
      ...this.#queries.parameters,
      ...this.#matches.parameters,
      ...this.#keys.parameters,
      ...this.#values.parameters,
      this.#keyKinds,
      this.#valueKinds,
      this.#attention.sharpness,
      this.#headGates,
      this.#outward,
    ];
  }

  forward({ examples, candidates }: RankBatch, logits: readonly Floats[]): void {
    this.#best = logits.map((row) => shortlist(row, this.#most));
    this.#owners = this.#best.flatMap((places, example) => places.map(() => example));
    this.#set = attentionSet(examples, this.#best, this.#limits);
    const dimension = candidates.vectors.columns;
    const places = this.#best.flat();
    const all = stackRows(this.#multiplier, this.#set.intents, dimension);
    const own = stackRows(this.#multiplier, this.#set.intents.slice(0, examples.length), dimension);
    const keys = this.#keys.forwardStacked(all, candidates, this.#set.context);
    const values = this.#values.forwardStacked(all, candidates, this.#set.context);
    this.#addKinds(keys, this.#keyKinds);
    this.#addKinds(values, this.#valueKinds);
    const queries = this.#queries.forwardSummed(own, candidates, places, this.#owners);
    this.#met = this.#matches.forwardSummed(own, candidates, places, this.#owners);
    this.#heard = this.#attention.forward(queries, keys, values, raggedLists(this.#set.lists));
    const [heard, met, columns] = [this.#heard.values, this.#met.values, this.#columns];
    const [gates, outward] = [this.#headGates.values, this.#outward.values];
    const width = columns / gates.length;
    for (const [row, place] of places.entries()) {
      let logit = 0;
      for (let c = 0, at = row * columns; c < columns; c++, at++) {
        const gate = DEFAULTS.scale * gates[Math.floor(c / width)]!;
        logit += heard[at]! * (gate * met[at]! + outward[c]!);
      }
      logits[this.#owners[row]!]![place]! += logit;
    }
  }

  backward({ examples }: RankBatch, slopes: readonly Floats[]): void {
    const { scale } = DEFAULTS;
    const [heard, met, columns] = [this.#heard!.values, this.#met!.values, this.#columns];
    const [gates, outward] = [this.#headGates, this.#outward];
    const width = columns / gates.values.length;
    const ofHeard = this.#multiplier.floats(heard.length);
    const ofMet = this.#multiplier.floats(met.length);
    for (const [row, place] of this.#best.flat().entries()) {
      const slope = slopes[this.#owners[row]!]![place]!;
      for (let c = 0, at = row * columns; c < columns; c++, at++) {
        const head = Math.floor(c / width);
        const gate = scale * gates.values[head]!;
        gates.slopes[head]! += slope * scale * heard[at]! * met[at]!;
        outward.slopes[c]! += slope * heard[at]!;
        ofHeard[at] = slope * (gate * met[at]! + outward.values[c]!);
        ofMet[at] = slope * gate * heard[at]!;
      }
    }
    const rows = this.#owners.length;
    const back = this.#attention.backward({ rows, columns, values: ofHeard });
    this.#kindsBack(back.keys, this.#keyKinds);
    this.#kindsBack(back.values, this.#valueKinds);
    const { length: all } = this.#set!.intents;
    this.#keys.backwardStacked(back.keys, all);
    this.#values.backwardStacked(back.values, all);
    this.#queries.backwardSummed(back.queries, this.#owners, examples.length);
    this.#matches.backwardSummed({ rows, columns, values: ofMet }, this.#owners, examples.length);
  }

  #addKinds({ values }: Matrix<Floats>, { values: kinds }: Parameter): void {
    const columns = this.#columns;
    for (const [row, kind] of this.#set!.kinds.entries()) {
      addTo(values, kinds.subarray(kind * columns, (kind + 1) * columns), row * columns);
    }
  }

  #kindsBack(slopes: Matrix<Floats>, kinds: Parameter): void {
    for (const [row, kind] of this.#set!.kinds.entries()) {
      addTo(kinds.slopes, rowOf(slopes, row), kind * this.#columns);
    }
  }
}

/** Kinds of tokens in the set, by number. */
const KINDS = ['intent', 'past_intent', 'latest', 'earlier'] as const;

const TOKEN_KINDS = KINDS.length;

/** Limits on the set of an example. */
export interface SetLimits {
  /** Past intents per candidate, nearest first. */
  readonly nearest: number;
  /** Candidates used before, latest ones. */
  readonly context: number;
}

/**
 * The tokens that candidates of a batch attend to, as rows of one matrix: intents of the queries, past intents, then
 * candidates that were used before.
 */
export interface AttentionSet {
  /** The intent of each example, then each past intent once. */
  readonly intents: readonly Float32Array[];
  readonly context: readonly number[];
  /** [intents + context], in 0 … TOKEN_KINDS - 1 */
  readonly kinds: readonly number[];
  /** For each candidate of each example: the rows it sees. */
  readonly lists: readonly (readonly number[])[];
}

function attentionSet(
  examples: readonly RankExample[],
  places: readonly (readonly number[])[],
  { nearest, context: most }: SetLimits,
): AttentionSet {
  const rowOf = new Map<Float32Array, number>();
  const past = examples.map(({ pastIntents }, i) =>
    places[i]!.map((place) =>
      (pastIntents?.get(place) ?? []).slice(0, nearest).map((intent) => {
        const row = rowOf.get(intent) ?? examples.length + rowOf.size;
        rowOf.set(intent, row);
        return row;
      }),
    ),
  );
  const intents = [...examples.map(({ intent }) => intent), ...rowOf.keys()];
  const contexts = examples.map(({ context = [] }) => context.slice(-most));
  let next = intents.length;
  const lists = contexts.flatMap((context, i) => {
    const shared = [i, ...context.map(() => next++)];
    return past[i]!.map((rows) => [...shared, ...rows]);
  });
  const kind = (name: (typeof KINDS)[number]) => KINDS.indexOf(name);
  return {
    intents,
    context: contexts.flat(),
    kinds: [
      ...intents.map((_, row) => kind(row < examples.length ? 'intent' : 'past_intent')),
      ...contexts.flatMap((context) =>
        context.map((_, i) => kind(i === context.length - 1 ? 'latest' : 'earlier')),
      ),
    ],
    lists,
  };
}
