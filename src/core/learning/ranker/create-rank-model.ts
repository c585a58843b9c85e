import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { RankModel } from './rank-model.ts';
import { createTerms, type TermName, type TermOptions } from './rank-terms.ts';

const DEFAULTS = {
  /** What serves. The other terms were measured to add nothing, or to do harm: `npm run ablate`. */
  terms: ['fusion', 'bilinear'] as readonly TermName[],
};

export interface RankModelOptions extends TermOptions {
  readonly terms?: readonly TermName[];
}

export function createRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  { terms = DEFAULTS.terms, ...options }: RankModelOptions = {},
): RankModel {
  return new RankModel(multiplier, createTerms(terms, { multiplier, dimension, random, options }));
}
