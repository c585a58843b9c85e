import { loadParams, type ParamsBlock } from '../ranker/params-file.ts';
import { AGAIN_FEATURES } from './again-features.ts';
import { DONE_FEATURES } from './done-features.ts';
import { NEXT_FEATURES, NEXT_WIDTH } from './next-features.ts';
import type { NextModel } from './next-model.ts';

/** Counts up when the same features come to mean something else. */
const VERSION = 2;

/** What the numbers of a predictor mean: those learned from other features are of no use. */
export const NEXT_FORM = [VERSION, NEXT_WIDTH, ...NEXT_FEATURES, ...DONE_FEATURES, ...AGAIN_FEATURES].join(
  ' ',
);

/** The parameters of its models, as numbers under names. */
export function nextBlocks(model: NextModel): ParamsBlock[] {
  return (['others', 'again', 'done'] as const).flatMap((part) =>
    model[part].parameters.map(({ name, values }) => ({ name: `${part}.${name}`, values })),
  );
}

/** Puts what `nextBlocks` gave into a model of the same form. */
export function loadNext(values: ReadonlyMap<string, Float32Array>, model: NextModel): void {
  loadParams(values, nextBlocks(model));
}
