import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { adaptiveHeads, BilinearTerm } from '../terms/bilinear-term.ts';
import { type CandidateAttentionOptions, CandidateAttentionTerm } from '../terms/candidate-attention-term.ts';
import { FusionTerm, type FusionWeights, searchFusion } from '../terms/fusion-term.ts';
import { type MessagePassingOptions, MessagePassingTerm } from '../terms/message-passing-term.ts';
import { type SetAttentionOptions, SetAttentionTerm } from '../terms/set-attention-term.ts';
import type { RankTerm } from './rank-term.ts';

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
