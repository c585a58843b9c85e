import { expect, test } from 'vitest';
import { nearestVotes, similarityToUsers } from './past-intents.ts';

const past = { size: 4, uses: [[0, 1], [1], [2], []] };

test('[SEARCH-10] the nearest past intents vote for what they used, by the fourth power of their similarity', () => {
  expect([...nearestVotes([0.5, 1, -0.5, 1], past)]).toEqual([0.0625, 1.0625, 0, 0]);
  const many = { size: 2, uses: Array.from({ length: 20 }, (_, i) => [i < 10 ? 0 : 1]) };
  const similarities = many.uses.map((_, i) => (i < 10 ? 1 : 0.9));
  expect([...nearestVotes(similarities, many)]).toEqual([10, 0]);
});

test('[SEARCH-10] similarity to the past intents that used a tool: greatest, mean and how many', () => {
  const { greatest, mean, count } = similarityToUsers([0.5, 0.1, -0.2, 1], past);
  expect([...greatest]).toEqual([0.5, 0.5, -0.2, 0]);
  expect([...mean]).toEqual([0.5, 0.3, -0.2, 0]);
  expect([...count]).toEqual([1, 2, 1, 0]);
});

test('[SEARCH-10] hidden intents do not vote', () => {
  const hidden = { ...past, isHidden: (intent: number) => intent === 0 };
  expect([...nearestVotes([0.5, 1, 0.5, 1], hidden)]).toEqual([0, 1, 0.0625, 0]);
  expect([...similarityToUsers([0.5, 1, 0.5, 1], hidden).count]).toEqual([0, 1, 1, 0]);
});
