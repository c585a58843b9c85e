import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { SearchWeights } from '../../retrieval/text-scores.ts';
import { fitListwise } from '../optim/listwise-logistic.ts';
import type { Candidates } from '../ranker/candidates.ts';
import type { LearnableRun, LearningProgress } from '../ranker/learn-ranker.ts';
import { loadParams, type ParamsBlock } from '../ranker/params-file.ts';
import { RankModel } from '../ranker/rank-model.ts';
import { type TrainingExample, type TrainingStep, trainRanker } from '../ranker/train-ranker.ts';
import { BilinearTerm } from '../terms/bilinear-term.ts';
import { FusionTerm, type FusionWeights } from '../terms/fusion-term.ts';
import { type PastSequences, rememberSequences } from './follow-statistics.ts';
import {
  BINARY_LABELS,
  DONE_FEATURES,
  type DoneFeature,
  doneFeatures,
  NEXT_FEATURES,
  NEXT_WIDTH,
  type NextFeature,
  NO,
  nextFeatures,
  nextQuery,
  REPEAT_FEATURES,
  type RepeatFeature,
  repeatFeatures,
  YES,
} from './next-features.ts';

const DEFAULTS = {
  /** Most feature rows in memory while training, over all examples: about 100 MB. */
  rows: 500_000,
  /** With fewer runs, nothing is trained. */
  leastRuns: 10,
  /** Number of moments on which the first weights are fitted. */
  fittedOn: 400,
  batch: 16,
  /** Steps: one for every three moments, within these bounds. */
  leastSteps: 60,
  mostSteps: 300,
  /** The yes-or-no models have few numbers, which may have to move far. */
  answers: { batch: 64, steps: 200, rate: 0.02, decay: 1e-3 },
  hidden: 32,
  /** Hidden units of a yes-or-no model. */
  answerHidden: 8,
};

/** Start weights by feature; all others are 0. */
type NextStart = Readonly<Partial<Record<NextFeature, number>>>;

/**
 * The start of learning: search and the successors of the last call, as two experts whose probabilities are
 * multiplied (Hinton, 2002). Without past runs every probability is 0, and search alone decides.
 */
const NEXT_START: NextStart = { hybrid: 0.4, follows: 2 };

/** Runs end where most similar runs ended; without any, hardly ever. */
const DONE_START: Partial<Record<DoneFeature, number>> = { constant: -2, after_last: 0.5, of_set: 0.5 };

/** As often as streaks of this length continued. */
const REPEAT_START: Partial<Record<RepeatFeature, number>> = { streaks: 1 };

/**
 * Whether the run continues, whether the last call is repeated, and if not, which other tool comes next: real
 * runs repeat calls so often that a single list for both would learn little else.
 */
export interface NextModel {
  readonly others: RankModel;
  readonly again: RankModel;
  readonly done: RankModel;
}

/** Predicts by its start weights: the hidden layers output 0 before training. */
export function createNextModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  start: NextStart = NEXT_START,
): NextModel {
  const others = startAt(NEXT_FEATURES, start, NEXT_WIDTH, DEFAULTS.hidden, random);
  const question = <Name extends string>(features: readonly Name[], first: Partial<Record<Name, number>>) => {
    const weights = startAt(features, first, features.length, DEFAULTS.answerHidden, random);
    return new RankModel(multiplier, [new FusionTerm(multiplier, weights)]);
  };
  return {
    others: new RankModel(multiplier, [
      new FusionTerm(multiplier, others),
      new BilinearTerm(multiplier, dimension, random),
    ]),
    done: question(DONE_FEATURES, DONE_START),
    again: question(REPEAT_FEATURES, REPEAT_START),
  };
}

function startAt<Name extends string>(
  features: readonly Name[],
  start: Partial<Record<Name, number>>,
  width: number,
  hidden: number,
  random: Random,
): FusionWeights {
  return {
    linear: features.map((name) => start[name] ?? 0),
    inward: Array.from({ length: width * hidden }, () => random.normal() / Math.sqrt(width)),
    bias: new Array<number>(hidden).fill(0),
    outward: new Array<number>(hidden).fill(0),
  };
}

/** Incremented when the meaning of the same features changes. */
const VERSION = 2;

/** Identifies what the parameters mean: parameters learned from other features cannot be used. */
export const NEXT_FORM = [VERSION, NEXT_WIDTH, ...NEXT_FEATURES, ...DONE_FEATURES, ...REPEAT_FEATURES].join(
  ' ',
);

/** The parameters of all its models, by name. */
export function nextBlocks(model: NextModel): ParamsBlock[] {
  return (['others', 'again', 'done'] as const).flatMap((part) =>
    model[part].parameters.map(({ name, values }) => ({ name: `${part}.${name}`, values })),
  );
}

/** Loads the result of `nextBlocks` into a model of the same form. */
export function loadNext(values: ReadonlyMap<string, Float32Array>, model: NextModel): void {
  loadParams(values, nextBlocks(model));
}

/** Features whose weights can be learned from few runs. */
const FITTED = [
  'hybrid',
  'follows_akin',
  'follows_earlier',
  'like_last',
  'server_any',
  'is_used',
  'here',
  'recent',
] as const satisfies readonly NextFeature[];

export interface NextLesson {
  readonly candidates: Candidates;
  /** Oldest first; `uses` is in order of calls, with repeats. */
  readonly runs: readonly LearnableRun[];
  readonly multiplier: Multiplier<Floats>;
  /** The same seed gives the same parameters. */
  readonly seed: number;
  /** Weight of each run; if absent, the runs are weighed here. */
  readonly beliefIn?: (run: LearnableRun) => number;
  readonly weights?: SearchWeights;
}

/** Everything needed to predict. */
export interface LearnedNext {
  readonly candidates: Candidates;
  readonly history: PastSequences;
  readonly model: NextModel;
  readonly weights?: SearchWeights;
}

type NextExamples = Readonly<Record<keyof NextModel, TrainingExample[]>>;

function noExamples(): NextExamples {
  return { others: [], again: [], done: [] };
}

/** A moment in a run, between two calls. */
interface Moment {
  readonly run: number;
  /** Calls made so far, at least one. */
  readonly steps: number;
}

/** Trains on every moment of all runs, each as if its run and runs of the same work had not been seen. */
export function* learnNext(lesson: NextLesson): Generator<LearningProgress, LearnedNext> {
  const { candidates, multiplier, seed, weights } = lesson;
  const random = createRandom(seed);
  const history = rememberSequences(candidates, lesson.runs, lesson.beliefIn);
  const isTaught = history.sequences.length >= DEFAULTS.leastRuns;
  const examples = isTaught ? yield* examplesFrom(lesson, history, random) : noExamples();
  const { others } = examples;
  const start = others.length > 0 ? fittedStart(others) : NEXT_START;
  const model = createNextModel(multiplier, candidates.vectors.columns, random, start);
  if (others.length > 0) {
    const { batch, leastSteps, mostSteps } = DEFAULTS;
    const steps = Math.min(mostSteps, Math.max(leastSteps, Math.floor(others.length / 3)));
    yield* training(trainRanker(model.others, candidates, others, { seed, steps, batch }));
  }
  for (const part of ['again', 'done'] as const) {
    if (examples[part].length === 0) continue;
    yield* training(trainRanker(model[part], BINARY_LABELS, examples[part], { seed, ...DEFAULTS.answers }));
  }
  for (const term of model.others.terms) term.prepare?.(candidates);
  return { candidates, history, model, ...(weights && { weights }) };
}

/**
 * The best weights of a few features by themselves: this problem is convex and quickly solved, and with few
 * runs little more can be learned.
 */
function fittedStart(examples: readonly TrainingExample[]): NextStart {
  const columns = FITTED.map((name) => NEXT_FEATURES.indexOf(name));
  const weights = fitListwise(
    examples.slice(0, DEFAULTS.fittedOn).map(({ features, right, leftOut = -1 }) => ({
      features: columns.map((column) => columnOf(features, column, leftOut)),
      positives: right.map((place) => (leftOut >= 0 && place > leftOut ? place - 1 : place)),
    })),
    FITTED.map((name) => NEXT_START[name] ?? 0),
  );
  return Object.fromEntries(FITTED.map((name, i) => [name, weights[i]!]));
}

/** [candidates], without the one that is left out. */
function columnOf(rows: Float32Array, column: number, leftOut: number): Float64Array {
  const values = Float64Array.from(
    { length: rows.length / NEXT_WIDTH },
    (_, candidate) => rows[candidate * NEXT_WIDTH + column]!,
  );
  return values.filter((_, candidate) => candidate !== leftOut);
}

function* training(steps: Generator<TrainingStep, void>): Generator<LearningProgress, void> {
  for (const { step, steps: total, loss } of steps) yield { stage: 'training', done: step, total, loss };
}

function* examplesFrom(
  { candidates, weights }: NextLesson,
  history: PastSequences,
  random: Random,
): Generator<LearningProgress, NextExamples> {
  const { past, sequences } = history;
  const moments = sequences.flatMap((sequence, run) =>
    sequence.map((_, i): Moment => ({ run, steps: i + 1 })),
  );
  const most = Math.max(1, Math.floor(DEFAULTS.rows / Math.max(1, candidates.size)));
  const sample = Map.groupBy(random.shuffle(moments).slice(0, most), ({ run }) => run);
  const examples = noExamples();
  let finished = 0;
  for (const [run, own] of sample) {
    const { key, intent } = past.runs[run]!;
    const weight = past.lessons[run]!;
    const isHidden = (other: number) => past.runs[other]!.key === key;
    const query = nextQuery(past.runs[run]!, candidates, history, { isHidden, ...(weights && { weights }) });
    for (const { steps } of own) {
      const before = sequences[run]!.slice(0, steps);
      const next = sequences[run]![steps];
      const { features, statistics } = nextFeatures(query, before, candidates, history);
      const last = before.at(-1)!;
      const answer = (isYes: boolean) => ({ intent, weight, right: [isYes ? YES : NO] });
      const ending = doneFeatures(statistics, before, query.chances);
      examples.done.push({ features: ending, ...answer(next === undefined) });
      if (next === undefined) continue;
      examples.again.push({ features: repeatFeatures(statistics, before), ...answer(next === last) });
      if (next !== last) examples.others.push({ features, intent, weight, right: [next], leftOut: last });
    }
    yield { stage: 'features', done: ++finished, total: sample.size };
  }
  return examples;
}
