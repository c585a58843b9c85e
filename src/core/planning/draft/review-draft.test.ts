import { expect, test } from 'vitest';
import { PlanHistory } from './plan-history.ts';
import { doubtTools } from './review-draft.ts';

const unit = (...values: number[]) => Float32Array.from(values);
const HERE = unit(1, 0);
const AWAY = unit(0, 1);
const run = (intent: Float32Array, uses: number[], key: string) => ({
  text: key,
  intent,
  clauses: [intent],
  words: [],
  uses,
  edges: [],
  key,
});
/** One run with this intent used all three. */
const HISTORY = new PlanHistory([run(HERE, [0, 1, 2], 'a')], 3, 2);
const DRAFTED = {
  tools: [0, 1, 2].map((place) => ({ place, chance: 0.9 })),
  edges: [
    { from: 0, to: 1, weight: 0.9 },
    { from: 1, to: 2, weight: 0.9 },
  ],
  rest: [],
  confidence: 0.9,
};
const removal = (intent: Float32Array, ...places: number[]) => ({ intent, places: new Set(places) });

test('[SUGG-3] a tool that was removed once is less likely by Laplace: (1 + 1 use) / (1 + 1 use + 1 removal)', () => {
  const { tools, confidence } = doubtTools(DRAFTED, HERE, HISTORY, [removal(HERE, 2)]);
  expect(tools.map(({ chance }) => chance)).toEqual([0.9, 0.9, expect.closeTo(0.6)]);
  expect(confidence).toBeCloseTo(0.9 * ((1 + 1 + 2 / 3) / 3));
});

test('[SUGG-3] a tool that is removed again and again is dropped, with its edges', () => {
  const removals = Array.from({ length: 4 }, () => removal(HERE, 1));
  const { tools, edges, rest } = doubtTools(DRAFTED, HERE, HISTORY, removals);
  expect(tools.map(({ place }) => place)).toEqual([0, 2]);
  expect(edges).toEqual([]);
  expect(rest).toEqual([{ place: 1, chance: expect.closeTo(0.9 * (2 / 6)) }]);
});

test('[SUGG-3] removals for other work do not count', () => {
  expect(doubtTools(DRAFTED, HERE, HISTORY, [removal(AWAY, 0, 1, 2)])).toBe(DRAFTED);
  expect(doubtTools(DRAFTED, HERE, HISTORY, [removal(HERE, 7)])).toBe(DRAFTED);
});
