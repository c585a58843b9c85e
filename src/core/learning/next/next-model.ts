import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { loadParams, type ParamsBlock } from '../ranker/params-file.ts';
import { RankModel } from '../ranker/rank-model.ts';
import { BilinearTerm } from '../terms/bilinear-term.ts';
import { FusionTerm, type FusionWeights } from '../terms/fusion-term.ts';
import { DONE_FEATURES, type DoneFeature, REPEAT_FEATURES, type RepeatFeature } from './binary-features.ts';
import { NEXT_FEATURES, NEXT_WIDTH, type NextFeature } from './next-features.ts';

const DEFAULTS = {
  hidden: 32,
  /** Hidden units of a yes-or-no model. */
  answerHidden: 8,
};

/** Start weights by feature; all others are 0. */
export type NextStart = Readonly<Partial<Record<NextFeature, number>>>;

/**
 * The start of learning: search and the successors of the last call, as two experts whose probabilities are
 * multiplied (Hinton, 2002). Without past runs every probability is 0, and search alone decides.
 */
export const NEXT_START: NextStart = { hybrid: 0.4, follows: 2 };

/** Runs end where most similar runs ended; without any, hardly ever. */
const DONE_START: Partial<Record<DoneFeature, number>> = { constant: -2, after_last: 0.5, of_set: 0.5 };

/** As often as streaks of this length continued. */
const REPEAT_START: Partial<Record<RepeatFeature, number>> = { streaks: 1 };

/**
 * Whether the run continues, whether the last call is repeated, and if not, which other tool comes next: real
 * runs repeat calls so often that a single list for both would learn little else.
 */
export interface NextModel {
  readonly others: RankModel;
  readonly again: RankModel;
  readonly done: RankModel;
}

/** Predicts by its start weights: the hidden layers output 0 before training. */
export function createNextModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  start: NextStart = NEXT_START,
): NextModel {
  const others = startAt(NEXT_FEATURES, start, NEXT_WIDTH, DEFAULTS.hidden, random);
  const question = <Name extends string>(features: readonly Name[], first: Partial<Record<Name, number>>) => {
    const weights = startAt(features, first, features.length, DEFAULTS.answerHidden, random);
    return new RankModel(multiplier, [new FusionTerm(multiplier, weights)]);
  };
  return {
    others: new RankModel(multiplier, [
      new FusionTerm(multiplier, others),
      new BilinearTerm(multiplier, dimension, random),
    ]),
    done: question(DONE_FEATURES, DONE_START),
    again: question(REPEAT_FEATURES, REPEAT_START),
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

/** Incremented when the meaning of the same features changes. */
const VERSION = 2;

/** Identifies what the parameters mean: parameters learned from other features cannot be used. */
export const NEXT_FORM = [VERSION, NEXT_WIDTH, ...NEXT_FEATURES, ...DONE_FEATURES, ...REPEAT_FEATURES].join(
  ' ',
);

/** The parameters of all its models, by name. */
export function nextBlocks(model: NextModel): ParamsBlock[] {
  return (['others', 'again', 'done'] as const).flatMap((part) =>
    model[part].parameters.map(({ name, values }) => ({ name: `${part}.${name}`, values })),
  );
}

/** Loads the result of `nextBlocks` into a model of the same form. */
export function loadNext(values: ReadonlyMap<string, Float32Array>, model: NextModel): void {
  loadParams(values, nextBlocks(model));
}
