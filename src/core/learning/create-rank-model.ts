import type { Floats, Multiplier } from '../numeric/matrices.ts';
import type { Random } from '../numeric/random.ts';
import { BilinearTerm } from './bilinear-term.ts';
import { FusionTerm, type FusionWeights, searchFusion } from './fusion-term.ts';
import { RankModel } from './rank-model.ts';

export interface RankModelOptions {
  /** Where the fusion starts; absent: as search ranks. */
  readonly fusion?: FusionWeights;
  /** Attention heads of the bilinear term; 0: without it. */
  readonly heads?: number;
  readonly headColumns?: number;
}

/** The model that serves. */
export function createRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  { fusion, heads, headColumns }: RankModelOptions = {},
): RankModel {
  const terms = [
    new FusionTerm(multiplier, fusion ?? searchFusion(random)),
    ...(heads === 0
      ? []
      : [
          new BilinearTerm(multiplier, dimension, random, {
            ...(heads !== undefined && { heads }),
            ...(headColumns !== undefined && { headColumns }),
          }),
        ]),
  ];
  return new RankModel(multiplier, terms);
}
