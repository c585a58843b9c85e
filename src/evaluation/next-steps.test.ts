import { expect, test } from 'vitest';
import { markovChances, Transitions } from './next-steps.ts';

const runs = [
  { key: 'a', sequence: [0, 1, 2] },
  { key: 'a', sequence: [0, 1, 1] },
  { key: 'b', sequence: [0, 2] },
];
const transitions = new Transitions(4, runs);

test('[EVAL-7] successors of a tool are counted, repeats included', () => {
  expect([...transitions.after(0)]).toEqual([0, 2, 1, 0]);
  expect([...transitions.after(1)]).toEqual([0, 1, 1, 0]);
  expect([...transitions.after(3)]).toEqual([0, 0, 0, 0]);
  expect([...transitions.popularity()]).toEqual([0, 3, 2, 0]);
});

test('[EVAL-6] the runs of one key are left out while learning from it', () => {
  expect([...transitions.after(0, 'a')]).toEqual([0, 0, 1, 0]);
  expect([...transitions.popularity('a')]).toEqual([0, 0, 1, 0]);
  expect([...transitions.after(0, 'unknown')]).toEqual([0, 2, 1, 0]);
});

test('[EVAL-7] the probability to follow backs off to popularity and repetition, and sums to 1', () => {
  // One of five steps repeats a tool.
  expect([transitions.repeats(), transitions.repeats('a')]).toEqual([1, 0]);
  const known = markovChances(transitions, 0);
  expect(known[1]).toBeCloseTo((2 + (4 / 5) * (3 / 5)) / 4, 12);
  expect(known.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
  const unknown = markovChances(transitions, 3);
  expect(unknown[1]).toBeCloseTo((4 / 5) * (3 / 5), 12);
  expect(unknown[3]).toBeCloseTo(1 / 5, 12);
  expect([...markovChances(new Transitions(2, []), 0)]).toEqual([0, 0]);
});
