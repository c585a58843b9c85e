import type { Floats, Multiplier } from '../numeric/matrices.ts';
import { createRandom, type Random } from '../numeric/random.ts';
import type { SearchWeights } from '../retrieval/search-weights.ts';
import type { Candidates } from './candidates.ts';
import { ANSWERS, DONE, doneFeatures, GOING_ON } from './done-features.ts';
import type { LearnableRun, LearningProgress } from './learn-ranker.ts';
import { nextFeatures, nextQuery } from './next-features.ts';
import { createNextModel, type NextModel } from './next-model.ts';
import { type PastSequences, rememberSequences } from './past-sequences.ts';
import { type TrainingExample, type TrainingStep, trainRanker } from './train-ranker.ts';

const DEFAULTS = {
  /** Rows of features held while training, over all examples: about 100 MB. */
  rows: 500_000,
  /** Runs below which nothing is trained. */
  leastRuns: 10,
  tools: { batch: 16, rate: 6e-3 },
  /** Steps: one for every two moments, within these. */
  leastSteps: 60,
  mostSteps: 300,
  /** A handful of numbers, far from where they may have to go. */
  done: { batch: 64, steps: 200, rate: 0.02, decay: 1e-3 },
};

export interface NextLesson {
  readonly candidates: Candidates;
  /** Oldest first; what each used is taken to be in order, repeats kept. */
  readonly runs: readonly LearnableRun[];
  readonly multiplier: Multiplier<Floats>;
  /** The same seed gives the same parameters. */
  readonly seed: number;
  readonly weights?: SearchWeights;
}

/** What is needed to predict. */
export interface LearnedNext {
  readonly candidates: Candidates;
  readonly history: PastSequences;
  readonly model: NextModel;
  readonly weights?: SearchWeights;
}

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
  const history = rememberSequences(candidates, lesson.runs);
  const model = createNextModel(multiplier, candidates.vectors.columns, random);
  if (history.sequences.length >= DEFAULTS.leastRuns) {
    const { tools, done } = yield* examplesFrom(lesson, history, random);
    const { leastSteps, mostSteps } = DEFAULTS;
    const steps = Math.min(mostSteps, Math.max(leastSteps, tools.length >> 1));
    if (tools.length > 0) {
      yield* training(trainRanker(model.tools, candidates, tools, { seed, steps, ...DEFAULTS.tools }));
    }
    yield* training(trainRanker(model.done, ANSWERS, done, { seed, ...DEFAULTS.done }));
  }
  for (const term of model.tools.terms) term.prepare?.(candidates);
  return { candidates, history, model, ...(weights && { weights }) };
}

function* training(steps: Generator<TrainingStep, void>): Generator<LearningProgress, void> {
  for (const { step, steps: total, loss } of steps) yield { stage: 'training', done: step, total, loss };
}

function* examplesFrom(
  { candidates, weights }: NextLesson,
  history: PastSequences,
  random: Random,
): Generator<LearningProgress, { tools: TrainingExample[]; done: TrainingExample[] }> {
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
    const weight = past.weights[run]!;
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
