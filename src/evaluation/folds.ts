import { createRandom } from '../core/numeric/random.ts';
import type { Protocol } from '../core/vocabulary/evaluation-report.ts';
import type { DataSet, Task } from './data-set.ts';

type Parts = Pick<DataSet, 'train' | 'test'>;

const DEFAULTS = {
  folds: 5,
  /** Number of different splits of a small set of recorded runs. */
  foldings: 5,
  /** A narrow past: number of runs, of random draws, of draws that plans are measured on, and of tasks measured. */
  runs: 45,
  /** Share of a small set that a past takes at the most. */
  mostPast: 0.75,
  draws: 3,
  planDraws: 12,
  measured: 150,
  /** Groups of at least this share of the largest group, or of the whole past, count as large. */
  large: 0.4,
  /** Parts that servers are split into; fewer for large data sets. */
  parts: 5,
  partsOfMany: 3,
  many: 1_500,
  /** With fewer training tasks, all tasks are trained on and measured in turn. */
  few: 200,
};

/** Training tasks, and the tasks measured after training. */
export interface Fold {
  readonly train: readonly Task[];
  readonly test: readonly Task[];
}

/**
 * `id`: all of train. `disjoint`: train without the measured groups. `cv5`: train and test together, split into
 * five parts by group; each part is measured after training on the other four. `narrow` and `new-tools`: queries
 * are far from all past work.
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
 * The folds of several splits, one after the other (repeated cross-validation): in a small set of recorded runs the
 * choice of the split changes next-step figures by more than the differences of interest. Only `cv5` splits.
 */
export function repeatedFolds(data: DataSet, protocol: Protocol, seed: number): Fold[] {
  const foldings = protocol === 'cv5' && data.isRecorded ? DEFAULTS.foldings : 1;
  return Array.from({ length: foldings }, (_, i) => foldsOf(data, protocol, seed + i)).flat();
}

/** What may be trained on, and what may be measured: of a small set everything is either, never both at once. */
function pooledIfFew({ train, test }: Parts): [train: readonly Task[], test: readonly Task[]] {
  const all = [...train, ...test];
  return train.length < DEFAULTS.few ? [all, all] : [train, test];
}

function withoutGroupsOf(tasks: readonly Task[], others: readonly Task[]): Task[] {
  const groups = new Set(others.map(({ group }) => group));
  return tasks.filter(({ group }) => !groups.has(group));
}

/** Deals out groups in random order, each to the part with the fewest tasks so far. */
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

/**
 * The past is one or a few kinds of work, and queries are about others. Drawn three times; of a small set from all of
 * its tasks, since a dozen measured ones would say more of themselves than of the plans.
 */
/**
 * The folds on which plans are measured: those of the protocol, and in `narrow` more draws, with the seeds that follow.
 * Their calibration error depends on which pasts are drawn: how far runs of one kind resemble other work differs.
 */
export function planFolds(data: DataSet, protocol: Protocol, seed: number, folds: readonly Fold[]): Fold[] {
  if (protocol !== 'narrow') return [...folds];
  const { draws, planDraws } = DEFAULTS;
  const more = Array.from({ length: planDraws / draws - 1 }, (_, i) => seed + draws * (i + 1));
  return [...folds, ...more.flatMap((next) => narrowFolds(data, next))];
}

function narrowFolds(data: DataSet, seed: number): Parts[] {
  const [train, test] = pooledIfFew(data);
  return Array.from({ length: DEFAULTS.draws }, (_, draw) => {
    const past = narrowPast(train, pastSize(data), seed + draw);
    const known = new Set(past.map(({ group }) => group));
    const foreign = test.filter(({ group }) => !known.has(group));
    return {
      train: past,
      test: createRandom(seed + draw)
        .shuffle(foreign)
        .slice(0, DEFAULTS.measured),
    };
  });
}

/** Of a set that is hardly larger than a past, some tasks are left to be measured. */
function pastSize({ train, test }: Parts): number {
  if (train.length >= DEFAULTS.few) return DEFAULTS.runs;
  return Math.min(DEFAULTS.runs, Math.floor(DEFAULTS.mostPast * (train.length + test.length)));
}

/** Random large groups, then others, until there are enough runs. */
function narrowPast(train: readonly Task[], size: number, seed: number): Task[] {
  const random = createRandom(seed);
  const groups = [...Map.groupBy(train, ({ group }) => group).values()];
  const largest = Math.max(...groups.map(({ length }) => length));
  const isLarge = ({ length }: readonly Task[]) =>
    length >= Math.min(DEFAULTS.runs, DEFAULTS.large * largest);
  const large = random.shuffle(groups.filter(isLarge));
  const others = random.shuffle(groups.filter((group) => !isLarge(group)));
  return [...large, ...others].flat().slice(0, size);
}

/**
 * Servers that nobody has used yet are attached: tasks that use any of their tools are measured, the others are
 * trained on. With too few servers to split, single tools are new.
 */
function newToolFolds(data: DataSet, seed: number): Parts[] {
  const [train, test] = pooledIfFew(data);
  const count = data.train.length > DEFAULTS.many ? DEFAULTS.partsOfMany : DEFAULTS.parts;
  const serverOf = new Map<string, string>(data.tools.map(({ id, server }) => [id, server]));
  const isByServer = new Set(serverOf.values()).size >= DEFAULTS.parts;
  const unitOf = (tool: string) => (isByServer ? (serverOf.get(tool) ?? tool) : tool);
  const units = new Set([...serverOf.keys()].map(unitOf));
  const dealt = createRandom(seed).shuffle([...units].sort());
  const partOf = new Map(dealt.map((unit, i) => [unit, i % count]));
  return Array.from({ length: count }, (_, part) => {
    const isNew = ({ tools }: Task) => tools.some((tool) => partOf.get(unitOf(tool)) === part);
    return { train: train.filter((task) => !isNew(task)), test: test.filter(isNew) };
  }).filter((fold) => fold.test.length > 0);
}
