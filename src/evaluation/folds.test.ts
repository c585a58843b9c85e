import { describe, expect, test } from 'vitest';
import type { ToolId } from '../core/vocabulary/ids.ts';
import type { DataSet, Task } from './data-set.ts';
import { foldsOf, planFolds, repeatedFolds } from './folds.ts';

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

test('[EVAL-4] id learns from all training tasks', () => {
  expect(foldsOf(data, 'id', 1)).toEqual([{ train: data.train, test: data.test }]);
});

test('[EVAL-4] disjoint learns from no measured group', () => {
  const [fold] = foldsOf(data, 'disjoint', 1);
  expect(fold!.test).toEqual(data.test);
  expect([...groups(fold!.train)].sort()).toEqual(['g2', 'g3', 'g4', 'g5', 'g6']);
});

test('[EVAL-4] cv5 measures every task of both parts once, in folds that share no group, the same for the same seed', () => {
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
  const folds = repeatedFolds(recorded, 'cv5', 1);
  expect(folds).toEqual([1, 2, 3, 4, 5].flatMap((seed) => foldsOf(data, 'cv5', seed)));
  expect(repeatedFolds(recorded, 'disjoint', 1)).toEqual(foldsOf(data, 'disjoint', 1));
  expect(repeatedFolds(data, 'cv5', 1)).toEqual(foldsOf(data, 'cv5', 1));
});

test('[EVAL-4] fewer groups than folds give fewer folds', () => {
  const small = { ...data, train: [task('a', 'g'), task('b', 'g')], test: [task('c', 'h')] };
  expect(
    foldsOf(small, 'cv5', 1)
      .map(({ test }) => test.length)
      .sort(),
  ).toEqual([1, 2]);
});

describe('far from all past work', () => {
  const many = (prefix: string, group: string, count: number) =>
    Array.from({ length: count }, (_, i) => task(`${prefix}${i}`, group));
  const shop: DataSet = {
    ...data,
    train: [
      ...[...many('a', 'a', 60), ...many('b', 'b', 30), ...many('c', 'c', 25), ...many('d', 'd', 2)],
      ...Array.from({ length: 100 }, (_, i) => task(`e${i}`, `e${i}`)),
    ],
    test: [...many('ta', 'a', 10), ...many('tb', 'b', 10), ...many('tc', 'c', 10), ...many('tn', 'new', 200)],
  };

  test('[EVAL-13] a narrow past is at most 45 runs of large groups; no measured task is from one of these groups', () => {
    const folds = foldsOf(shop, 'narrow', 1);
    expect(folds).toHaveLength(3);
    for (const { train, test } of folds) {
      expect(train).toHaveLength(45);
      expect(groups(train).size).toBeLessThanOrEqual(2);
      expect(groups(train).has('d')).toBe(false);
      expect(groups(train).isDisjointFrom(groups(test))).toBe(true);
      expect(test).toHaveLength(150);
    }
    expect(folds[1]).toEqual(foldsOf(shop, 'narrow', 2)[0]);
    expect(new Set(folds.map(({ train }) => ids(train).join())).size).toBeGreaterThan(1);
  });

  test('[EVAL-13] plans are measured on twelve narrow pasts, which begin with those of the ranking', () => {
    const folds = foldsOf(shop, 'narrow', 1);
    const ofPlans = planFolds(shop, 'narrow', 1, folds);
    const all = Array.from({ length: 12 }, (_, draw) => foldsOf(shop, 'narrow', 1 + draw)[0]);
    expect(ofPlans).toEqual(all);
    expect(ofPlans[0]!.train).toBe(folds[0]!.train);
    const same = foldsOf(shop, 'new-tools', 1);
    expect(planFolds(shop, 'new-tools', 1, same)).toEqual(same);
  });

  test('[EVAL-13] of a small set all tasks but the past are measured, whichever part they are of', () => {
    const single = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => task(`${prefix}${i}`, `${prefix}${i}`));
    const small = { ...data, train: single('a', 60), test: single('t', 15) };
    for (const { train, test } of foldsOf(small, 'narrow', 1)) {
      expect(train).toHaveLength(45);
      const measured = [...small.train, ...small.test].filter((each) => !train.includes(each));
      expect(ids(test).sort()).toEqual(ids(measured).sort());
    }
  });

  const toolsOf = (servers: number, each: number) =>
    Array.from({ length: servers * each }, (_, i) => ({
      id: `s${i % servers}:t${i}` as ToolId,
      server: `s${i % servers}`,
      name: `t${i}`,
      description: '',
      inputSchema: {},
      definitionHash: '',
    }));
  const tasksOf = (tools: DataSet['tools'], count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...task(`n${i}`, `g${i}`),
      // Each server alone at first, so that none is only used together with another.
      tools: [...new Set([i, i < tools.length ? i : 7 * i].map((at) => tools[at % tools.length]!.id))],
    }));
  const serversOf = (tasks: readonly Task[]) =>
    new Set(tasks.flatMap(({ tools }) => tools.map((tool) => tool.split(':')[0]!)));

  test('[EVAL-14] new tools are those of whole servers, each new once; none of them was ever used', () => {
    const tools = toolsOf(10, 3);
    const set = { ...data, tools, train: tasksOf(tools, 300), test: tasksOf(tools, 60) };
    const folds = foldsOf(set, 'new-tools', 1);
    expect(folds).toHaveLength(5);
    const heldOut = folds.map(({ train }) => [
      ...serversOf(tasksOf(tools, 300)).difference(serversOf(train)),
    ]);
    expect(heldOut.flat().sort()).toEqual([...new Set(tools.map(({ server }) => server))].sort());
    for (const [i, { test }] of folds.entries()) {
      const isNew = ({ tools }: Task) => tools.some((tool) => heldOut[i]!.includes(tool.split(':')[0]!));
      expect(test).toEqual(set.test.filter(isNew));
    }
    expect(foldsOf(set, 'new-tools', 1)).toEqual(folds);
    expect(foldsOf(set, 'new-tools', 2)).not.toEqual(folds);
  });

  test('[EVAL-14] with few servers single tools are new; large sets are split in three, small ones measured as a whole', () => {
    const tools = toolsOf(2, 10);
    const large = { ...data, tools, train: tasksOf(tools, 1_600), test: tasksOf(tools, 20) };
    const inThree = foldsOf(large, 'new-tools', 1);
    expect(inThree).toHaveLength(3);
    for (const { train, test } of inThree) {
      const used = new Set(train.flatMap((each) => each.tools));
      expect(serversOf(train).size).toBe(2);
      for (const each of test) expect(each.tools.some((tool) => !used.has(tool))).toBe(true);
    }
    const small = { ...large, train: tasksOf(tools, 100) };
    const measured = foldsOf(small, 'new-tools', 1).flatMap(({ test }) => test);
    expect(new Set(ids(measured)).size).toBe(100);
  });
});
