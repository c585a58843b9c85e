import type { Floats } from '../../numeric/matrices.ts';
import type { RankedCandidates } from '../ranker/rank-term.ts';

/** The two answers to a question, told apart by their features alone. */
export const NO = 0;
export const YES = 1;
export const YES_OR_NO: RankedCandidates = {
  size: 2,
  vectors: { rows: 0, columns: 0, values: new Float32Array(0) },
};

/** [2 x names]: "no" is what the other is compared with, all 0. */
export function yesFeatures<Name extends string>(
  names: readonly Name[],
  values: Readonly<Record<Name, number>>,
): Float32Array {
  const features = new Float32Array(YES_OR_NO.size * names.length);
  features.set(
    names.map((name) => values[name]),
    YES * names.length,
  );
  return features;
}

export function chanceOfYes(logits: Floats): number {
  return 1 / (1 + Math.exp(logits[NO]! - logits[YES]!));
}
