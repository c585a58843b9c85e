import { expect, test } from 'vitest';
import { tinyIntent, tinyTools } from '../../../../test/support/tiny-history.ts';
import { rememberSequences } from './follow-statistics.ts';
import { NEXT_FEATURES, NEXT_WIDTH, type NextFeature, nextFeatures, nextQuery } from './next-features.ts';

const candidates = tinyTools(5);
const history = rememberSequences(candidates, []);

function featureAfter(before: readonly number[], name: NextFeature): number[] {
  const query = nextQuery(tinyIntent(1), candidates, history);
  const { features } = nextFeatures(query, before, candidates, history);
  const column = NEXT_FEATURES.indexOf(name);
  return Array.from({ length: candidates.size }, (_, i) => features[i * NEXT_WIDTH + column]!);
}

test('[NEXT-8] the calls that followed the last call earlier in the same run are a feature, with one pseudo-count', () => {
  expect(featureAfter([0, 1, 0, 2, 0, 1, 0], 'here')).toEqual([0, 0.5, 0.25, 0, 0]);
  expect(featureAfter([3, 3], 'here')).toEqual([0, 0, 0, 0.5, 0]);
  expect(featureAfter([4], 'here')).toEqual([0, 0, 0, 0, 0]);
});

test('[NEXT-8] so is how long ago other tools were called', () => {
  expect(featureAfter([2, 1, 2, 0, 0], 'recent')).toEqual([0, 1 / 3, 0.5, 0, 0].map(Math.fround));
});
