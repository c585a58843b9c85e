import { expect, test } from 'vitest';
import { niceTicks, tickLabels } from './line-chart.tsx';

test('ticks are round numbers and cover the range', () => {
  expect(niceTicks(0.351, 0.362, 4)).toEqual([0.35, 0.355, 0.36, 0.365]);
  expect(niceTicks(0, 1, 4)).toEqual([0, 0.5, 1]);
  expect(niceTicks(3, 97, 4)).toEqual([0, 50, 100]);
  expect(niceTicks(-0.5, 0.5, 4)).toEqual([-0.5, 0, 0.5]);
  expect(niceTicks(0, 0.3, 4)).toEqual([0, 0.1, 0.2, 0.3]);
});

test('labels that would be equal get more digits', () => {
  const two = (value: number) => value.toFixed(2);
  expect(tickLabels([0.35, 0.36], two)).toEqual(['0.35', '0.36']);
  expect(tickLabels([0.35, 0.355, 0.36], two)).toEqual(['0.350', '0.355', '0.360']);
});
