import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { adaptiveHeads, BilinearTerm, headsOf } from '../terms/bilinear-term.ts';
import { type CandidateAttentionOptions, CandidateAttentionTerm } from '../terms/candidate-attention-term.ts';
import { FusionTerm, type FusionWeights, searchFusion } from '../terms/fusion-term.ts';
import { type MessagePassingOptions, MessagePassingTerm } from '../terms/message-passing-term.ts';
import { type SetAttentionOptions, SetAttentionTerm } from '../terms/set-attention-term.ts';
import { type ModelChoice, OPTIONAL_TERMS } from './model-choice.ts';
import { loadParams } from './params-file.ts';
import type { Parameter, RankBatch, RankTerm } from './rank-term.ts';

const DEFAULTS = {
  /** The terms that serve. The others were measured to add nothing, or to do harm: `npm run ablate`. */
  terms: ['fusion', 'bilinear'] as readonly TermName[],
};

/** In order of construction: the first is search, and later ones only rank the best so far. */
export const TERM_NAMES = [
  'fusion',
  'bilinear',
  'message_passing',
  'set_attention',
  'candidate_attention',
] as const;

export type TermName = (typeof TERM_NAMES)[number];

/** Differences from each term's defaults. */
export interface TermOptions {
  readonly fusion?: {
    /** Start weights; if absent, those of search. */
    readonly start?: FusionWeights;
    readonly hidden?: number;
    readonly dropout?: number;
    /** Feature columns that are left out. */
    readonly unseen?: readonly number[];
  };
  readonly bilinear?: {
    /** `adaptive`: by the number of training runs. */
    readonly heads?: number | 'adaptive';
    readonly headColumns?: number;
    readonly pace?: number;
  };
  readonly message_passing?: MessagePassingOptions;
  readonly set_attention?: SetAttentionOptions;
  readonly candidate_attention?: CandidateAttentionOptions;
}

interface TermSettings {
  readonly multiplier: Multiplier<Floats>;
  /** Dimension of the embedding. */
  readonly dimension: number;
  readonly random: Random;
  readonly options?: TermOptions;
  /** Number of training runs; absent if unknown. */
  readonly runs?: number;
}

/** The terms of a model by name, always in the order of `TERM_NAMES`. */
export function createTerms(
  names: Iterable<TermName>,
  { multiplier, dimension, random, options = {}, runs = 0 }: TermSettings,
): RankTerm[] {
  const { fusion: { start, hidden, ...fusion } = {}, bilinear: { heads, ...bilinear } = {} } = options;
  const headCount = heads === 'adaptive' ? adaptiveHeads(runs) : heads;
  const create: Readonly<Record<TermName, () => RankTerm>> = {
    fusion: () => new FusionTerm(multiplier, start ?? searchFusion(random, hidden), fusion),
    bilinear: () =>
      new BilinearTerm(multiplier, dimension, random, {
        ...bilinear,
        ...(headCount !== undefined && { heads: headCount }),
      }),
    message_passing: () => new MessagePassingTerm(multiplier, dimension, random, options.message_passing),
    set_attention: () => new SetAttentionTerm(multiplier, dimension, random, options.set_attention),
    candidate_attention: () =>
      new CandidateAttentionTerm(multiplier, dimension, random, options.candidate_attention),
  };
  const wanted = new Set(names);
  return TERM_NAMES.filter((name) => wanted.has(name)).map((name) => create[name]());
}

/** The ranker: the sum of the logits of all its terms. */
export class RankModel {
  readonly terms: readonly RankTerm[];
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;

  constructor(multiplier: Multiplier<Floats>, terms: readonly RankTerm[]) {
    this.#multiplier = multiplier;
    this.terms = terms;
    this.parameters = terms.flatMap(({ parameters }) => parameters);
  }

  /** Whether examples need more data about the past than features. */
  get wantsPast(): boolean {
    return this.terms.some(({ wantsPast }) => wantsPast === true);
  }

  /** Scales back what was learned: 1 keeps all of it, 0 ranks like search. */
  temper(trust: number): void {
    for (const term of this.terms) term.temper?.(trust);
  }

  /** Logits [candidates] for each example. */
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

export interface RankModelOptions extends TermOptions {
  readonly terms?: readonly TermName[];
  /** Number of training runs, for options that depend on it. */
  readonly runs?: number;
}

/** Options of a model with additional terms or another number of heads. */
export function chosenModel({ terms = [], heads }: ModelChoice): RankModelOptions {
  return { terms: [...DEFAULTS.terms, ...terms], ...(heads !== undefined && { bilinear: { heads } }) };
}

export function createRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  { terms = DEFAULTS.terms, runs = 0, ...options }: RankModelOptions = {},
): RankModel {
  return new RankModel(multiplier, createTerms(terms, { multiplier, dimension, random, options, runs }));
}

/** The model of a parameter file: the file determines its terms and heads, whatever the configuration. */
export function readRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  values: ReadonlyMap<string, Float32Array>,
): RankModel {
  const blocks = [...values.keys()];
  const terms = OPTIONAL_TERMS.filter((name) => blocks.some((block) => block.startsWith(`${name}.`)));
  const intents = values.get('bilinear.intents');
  const heads = intents && headsOf(intents.length, dimension);
  const known = heads !== undefined && Number.isInteger(heads) && heads > 0;
  const model = createRankModel(
    multiplier,
    dimension,
    random,
    chosenModel({ terms, ...(known && { heads }) }),
  );
  loadParams(values, model.parameters);
  return model;
}
