import { expect, test } from 'vitest';
import type { DataSet, Task } from './data-set.ts';
import { foldsAnew, foldsOf } from './folds.ts';

const task = (id: string, group: string): Task => ({
  id,
  group,
  intent: id,
  tools: ['t'],
  alternatives: {},
  isOrdered: true,
  edges: [],
  isParallel: false,
});
const data: DataSet = {
  name: 'x',
  split: 'dev',
  tools: [],
  train: Array.from({ length: 20 }, (_, i) => task(`a${i}`, `g${i % 7}`)),
  test: [task('b0', 'g0'), task('b1', 'g1'), task('b2', 'new')],
  isRecorded: false,
};
const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id);
const groups = (tasks: readonly Task[]) => new Set(tasks.map(({ group }) => group));

test('[EVAL-4] id learns from all of train', () => {
  expect(foldsOf(data, 'id', 1)).toEqual([{ train: data.train, test: data.test }]);
});

test('[EVAL-4] disjoint learns from no group that is measured', () => {
  const [fold] = foldsOf(data, 'disjoint', 1);
  expect(fold!.test).toEqual(data.test);
  expect([...groups(fold!.train)].sort()).toEqual(['g2', 'g3', 'g4', 'g5', 'g6']);
});

test('[EVAL-4] cv5 measures every task of both once, by folds that share no group, the same for the same seed', () => {
  const folds = foldsOf(data, 'cv5', 1);
  expect(folds).toHaveLength(5);
  expect(folds.flatMap(({ test }) => ids(test)).sort()).toEqual(ids([...data.train, ...data.test]).sort());
  for (const { train, test } of folds) {
    expect(groups(train).isDisjointFrom(groups(test))).toBe(true);
    expect(train.length + test.length).toBe(23);
  }
  expect(foldsOf(data, 'cv5', 1)).toEqual(folds);
  expect(foldsOf(data, 'cv5', 2)).not.toEqual(folds);
});

test('[EVAL-12] for the next tool, recorded runs are cut five times, beginning with the folds of the seed', () => {
  const recorded = { ...data, isRecorded: true };
  const folds = foldsAnew(recorded, 'cv5', 1);
  expect(folds).toEqual([1, 2, 3, 4, 5].flatMap((seed) => foldsOf(data, 'cv5', seed)));
  expect(foldsAnew(recorded, 'disjoint', 1)).toEqual(foldsOf(data, 'disjoint', 1));
  expect(foldsAnew(data, 'cv5', 1)).toEqual(foldsOf(data, 'cv5', 1));
});

test('[EVAL-4] fewer groups than folds give fewer folds', () => {
  const small = { ...data, train: [task('a', 'g'), task('b', 'g')], test: [task('c', 'h')] };
  expect(
    foldsOf(small, 'cv5', 1)
      .map(({ test }) => test.length)
      .sort(),
  ).toEqual([1, 2]);
});
