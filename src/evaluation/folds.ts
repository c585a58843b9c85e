import { createRandom } from '../core/numeric/random.ts';
import type { Protocol } from '../core/vocabulary/evaluation-report.ts';
import type { DataSet, Task } from './data-set.ts';
import { narrowFolds, newToolFolds } from './far-folds.ts';

const DEFAULTS = {
  folds: 5,
  /** Times that a small set of recorded runs is cut anew. */
  foldings: 5,
};

/** What may be learned from, and what is measured with it. */
export interface Fold {
  readonly train: readonly Task[];
  readonly test: readonly Task[];
}

/**
 * `id`: all of train. `disjoint`: without the groups that are measured. `cv5`: train and the measured
 * split together, cut into five by group; each part is measured by what the other four taught. `narrow` and
 * `new-tools`: what is asked is far from all that was done.
 */
export function foldsOf(data: DataSet, protocol: Protocol, seed: number): Fold[] {
  const { train, test } = data;
  switch (protocol) {
    case 'id':
      return [{ train, test }];
    case 'disjoint':
      return [{ train: withoutGroupsOf(train, test), test }];
    case 'cv5':
      return crossValidation([...train, ...test], seed);
    case 'narrow':
      return narrowFolds(data, seed);
    case 'new-tools':
      return newToolFolds(data, seed);
  }
}

/**
 * The folds of several foldings, one after the other (repeated cross-validation): in a small set of recorded runs,
 * which of them are cut off together moves what follows what by more than is compared. Only `cv5` cuts anything.
 */
export function foldsAnew(data: DataSet, protocol: Protocol, seed: number): Fold[] {
  const foldings = protocol === 'cv5' && data.isRecorded ? DEFAULTS.foldings : 1;
  return Array.from({ length: foldings }, (_, i) => foldsOf(data, protocol, seed + i)).flat();
}

function withoutGroupsOf(tasks: readonly Task[], others: readonly Task[]): Task[] {
  const groups = new Set(others.map(({ group }) => group));
  return tasks.filter(({ group }) => !groups.has(group));
}

/** Groups are dealt out in random order, each to the part with the fewest tasks so far. */
function crossValidation(tasks: readonly Task[], seed: number): Fold[] {
  const byGroup = Map.groupBy(tasks, ({ group }) => group);
  const parts = Array.from({ length: DEFAULTS.folds }, (): Task[] => []);
  for (const group of createRandom(seed).shuffle([...byGroup.keys()].sort())) {
    const smallest = parts.reduce((least, part) => (part.length < least.length ? part : least));
    smallest.push(...byGroup.get(group)!);
  }
  return parts
    .filter((part) => part.length > 0)
    .map((test) => ({ train: withoutGroupsOf(tasks, test), test }));
}
