import type { Floats, Multiplier } from '../numeric/matrices.ts';
import type { Random } from '../numeric/random.ts';
import { BilinearTerm } from './bilinear-term.ts';
import { DONE_FEATURES, DONE_WIDTH, type DoneFeature } from './done-features.ts';
import { FusionTerm, type FusionWeights } from './fusion-term.ts';
import { NEXT_FEATURES, NEXT_WIDTH, type NextFeature } from './next-features.ts';
import { RankModel } from './rank-model.ts';

const DEFAULTS = {
  hidden: 32,
  doneHidden: 8,
};

/** Weights of features; the rest are 0. */
export type NextStart = Readonly<Partial<Record<NextFeature, number>>>;

/**
 * Where learning starts: what search says and what follows the last call, as two experts whose chances are
 * multiplied (Hinton, 2002). Without past runs every chance is 0, and search alone decides.
 */
export const NEXT_START: NextStart = { hybrid: 0.4, follows: 2 };

/** Runs end where most of their like ended; without any, hardly ever. */
const DONE_START: Partial<Record<DoneFeature, number>> = { constant: -2, after_last: 0.5, of_set: 0.5 };

/** Which candidate comes next if anything does, and whether anything does. */
export interface NextModel {
  readonly tools: RankModel;
  /** Of two answers: going on, and being done. */
  readonly done: RankModel;
}

/** Predicts by the weights it starts with: the hidden layers say nothing yet. */
export function createNextModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  start: NextStart = NEXT_START,
): NextModel {
  const tools = startAt(NEXT_FEATURES, start, NEXT_WIDTH, DEFAULTS.hidden, random);
  const done = startAt(DONE_FEATURES, DONE_START, DONE_WIDTH, DEFAULTS.doneHidden, random);
  return {
    tools: new RankModel(multiplier, [
      new FusionTerm(multiplier, tools),
      new BilinearTerm(multiplier, dimension, random),
    ]),
    done: new RankModel(multiplier, [new FusionTerm(multiplier, done)]),
  };
}

function startAt<Name extends string>(
  features: readonly Name[],
  start: Partial<Record<Name, number>>,
  width: number,
  hidden: number,
  random: Random,
): FusionWeights {
  return {
    linear: features.map((name) => start[name] ?? 0),
    inward: Array.from({ length: width * hidden }, () => random.normal() / Math.sqrt(width)),
    bias: new Array<number>(hidden).fill(0),
    outward: new Array<number>(hidden).fill(0),
  };
}
