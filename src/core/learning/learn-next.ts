import type { Floats, Multiplier } from '../numeric/matrices.ts';
import { createRandom, type Random } from '../numeric/random.ts';
import type { SearchWeights } from '../retrieval/search-weights.ts';
import type { Candidates } from './candidates.ts';
import { ANSWERS, DONE, doneFeatures, GOING_ON } from './done-features.ts';
import type { LearnableRun, LearningProgress } from './learn-ranker.ts';
import { fitListwise } from './listwise-logistic.ts';
import { NEXT_FEATURES, NEXT_WIDTH, type NextFeature, nextFeatures, nextQuery } from './next-features.ts';
import { createNextModel, NEXT_START, type NextModel, type NextStart } from './next-model.ts';
import { type PastSequences, rememberSequences } from './past-sequences.ts';
import { type TrainingExample, type TrainingStep, trainRanker } from './train-ranker.ts';

const DEFAULTS = {
  /** Rows of features held while training, over all examples: about 100 MB. */
  rows: 500_000,
  /** Runs below which nothing is trained. */
  leastRuns: 10,
  /** Moments that the first weights are fitted on. */
  fittedOn: 400,
  batch: 16,
  /** Steps: one for every three moments, within these. */
  leastSteps: 60,
  mostSteps: 300,
  /** A handful of numbers, far from where they may have to go. */
  done: { batch: 64, steps: 200, rate: 0.02, decay: 1e-3 },
};

/** What few runs can tell the weights of. */
const FITTED = [
  'hybrid',
  'follows_akin',
  'follows_earlier',
  'like_last',
  'server_any',
  'is_last',
  'is_used',
  'streak',
  'again',
  'here',
  'recent',
] as const satisfies readonly NextFeature[];

export interface NextLesson {
  readonly candidates: Candidates;
  /** Oldest first; what each used is taken to be in order, repeats kept. */
  readonly runs: readonly LearnableRun[];
  readonly multiplier: Multiplier<Floats>;
  /** The same seed gives the same parameters. */
  readonly seed: number;
  /** How far each run is believed; absent: they are weighed here. */
  readonly beliefIn?: (run: LearnableRun) => number;
  readonly weights?: SearchWeights;
}

/** What is needed to predict. */
export interface LearnedNext {
  readonly candidates: Candidates;
  readonly history: PastSequences;
  readonly model: NextModel;
  readonly weights?: SearchWeights;
}

interface NextExamples {
  readonly tools: TrainingExample[];
  readonly done: TrainingExample[];
}

const NOTHING: NextExamples = { tools: [], done: [] };

/** A moment in a run. */
interface Moment {
  readonly run: number;
  /** Calls made so far, at least one. */
  readonly steps: number;
}

/** Trains on every moment of all runs, each as if its run and its like had not been seen. */
export function* learnNext(lesson: NextLesson): Generator<LearningProgress, LearnedNext> {
  const { candidates, multiplier, seed, weights } = lesson;
  const random = createRandom(seed);
  const history = rememberSequences(candidates, lesson.runs, lesson.beliefIn);
  const isTaught = history.sequences.length >= DEFAULTS.leastRuns;
  const { tools, done } = isTaught ? yield* examplesFrom(lesson, history, random) : NOTHING;
  const start = tools.length > 0 ? fittedStart(tools) : NEXT_START;
  const model = createNextModel(multiplier, candidates.vectors.columns, random, start);
  if (tools.length > 0) {
    const { batch, leastSteps, mostSteps } = DEFAULTS;
    const steps = Math.min(mostSteps, Math.max(leastSteps, Math.floor(tools.length / 3)));
    yield* training(trainRanker(model.tools, candidates, tools, { seed, steps, batch }));
  }
  if (done.length > 0) yield* training(trainRanker(model.done, ANSWERS, done, { seed, ...DEFAULTS.done }));
  for (const term of model.tools.terms) term.prepare?.(candidates);
  return { candidates, history, model, ...(weights && { weights }) };
}

/**
 * The best weights of a few features by themselves: that problem is convex and quickly solved, and where runs
 * are few, little can be learned beyond it.
 */
function fittedStart(examples: readonly TrainingExample[]): NextStart {
  const columns = FITTED.map((name) => NEXT_FEATURES.indexOf(name));
  const weights = fitListwise(
    examples.slice(0, DEFAULTS.fittedOn).map(({ features, right }) => ({
      features: columns.map((column) => columnOf(features, column)),
      positives: right,
    })),
    FITTED.map((name) => NEXT_START[name] ?? 0),
  );
  return Object.fromEntries(FITTED.map((name, i) => [name, weights[i]!]));
}

/** [candidates] */
function columnOf(rows: Float32Array, column: number): Float64Array {
  return Float64Array.from(
    { length: rows.length / NEXT_WIDTH },
    (_, candidate) => rows[candidate * NEXT_WIDTH + column]!,
  );
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
  const examples = { tools: [] as TrainingExample[], done: [] as TrainingExample[] };
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
      if (next !== undefined) examples.tools.push({ features, intent, weight, right: [next] });
      examples.done.push({
        features: doneFeatures(statistics, before, query.chances),
        intent,
        weight,
        right: [next === undefined ? DONE : GOING_ON],
      });
    }
    yield { stage: 'features', done: ++finished, total: sample.size };
  }
  return examples;
}
