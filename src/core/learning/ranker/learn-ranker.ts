import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { SearchWeights, TextChances } from '../../retrieval/text-scores.ts';
import { evidenceKey, type GateEvidence, type JudgedQueries } from '../gate/gate.ts';
import { ndcg10, ranksOf } from '../gate/metrics.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import { type Familiarity, learnFamiliarity, narrownessOf } from './familiarity.ts';
import { type ForeignQuestion, runQuestion, toolQuestions } from './foreign-questions.ts';
import { type PastRun, PastRuns, pastForTerms } from './past-runs.ts';
import { rankFeatures } from './rank-features.ts';
import { createRankModel, type RankModelOptions } from './rank-model.ts';
import { Ranker } from './ranker.ts';
import { exampleOf, type TrainingExample, type TrainingOptions, trainRanker } from './train-ranker.ts';
import { weighRuns } from './weigh-runs.ts';

const DEFAULTS = {
  /** Rows of features held while training, over all examples: about 80 MB. */
  rows: 800_000,
  /** Runs that features look back on at the most, the newest. */
  past: 5_000,
  /** Share of the newest runs held back to judge by, and how many at the most. */
  heldBack: 0.2,
  mostHeldBack: 100,
  /** Runs below which nothing is trained: search serves, unchanged. */
  leastRuns: 10,
  /** Runs that speak for search: with n runs, n / (n + doubt) of what was learned counts. */
  doubt: 5,
  /**
   * Of the training that is only judged, at most: whether runs beat search shows long before all of
   * them are learned by heart, and a ranker that learned less errs on the side of search.
   */
  judging: { steps: 300, examples: 1_000 },
  /**
   * Foreign questions beside the runs, as shares of their number, and how much each counts: without them a ranker
   * learns from a narrow past that what was used is right whatever is asked. A diverse past has shown that by itself. The
   * smallest shares and weights that were enough on six sets.
   */
  foreign: { tools: 0.5, leastTools: 50, runs: 0.3, weight: { narrow: 0.3, diverse: 0.05 } },
  /** Foreign questions that are judged. */
  judgedForeign: 60,
  /** Share of the learning rate that the heads have. */
  pace: { slowest: 1 / 30, fastest: 0.1, runsToFastest: 500 },
};

/** A run to learn from. */
export interface LearnableRun extends IntentForms {
  /** Ids of what it used, in order. */
  readonly uses: readonly string[];
  readonly succeeded: boolean;
  /** Runs of one key are the same work. */
  readonly key: string;
  /** One that waited for a person is told of several times under its id: the last time counts. */
  readonly runId?: string;
  /** Its words are not for others to read. */
  readonly isPrivate?: boolean;
}

export interface Lesson {
  readonly candidates: Candidates;
  /** Oldest first. */
  readonly runs: readonly LearnableRun[];
  readonly multiplier: Multiplier<Floats>;
  readonly seed: number;
  readonly model?: RankModelOptions;
  readonly training?: Partial<TrainingOptions>;
  readonly weights?: SearchWeights;
  readonly textChances?: TextChances;
  /** Runs that are trained on at the most, by lot; all of them are looked back on. */
  readonly mostExamples?: number;
}

export type LearningStage = 'judging' | 'features' | 'training';

export interface LearningProgress {
  readonly stage: LearningStage;
  readonly done: number;
  readonly total: number;
  /** Of the step just taken, while training. */
  readonly loss?: number;
}

export interface Learned {
  readonly ranker: Ranker;
  /** Runs it learned from. */
  readonly runs: number;
  /** One per step. */
  readonly losses: readonly number[];
}

/**
 * Trains on all runs. A generator, so that its caller can tell of progress, let others run in
 * between, or stop: nothing has changed then.
 */
export function* learnRanker(lesson: Lesson): Generator<LearningProgress, Learned> {
  const { candidates, multiplier, seed, weights, textChances } = lesson;
  const random = createRandom(seed);
  const past = rememberRuns(candidates, lesson.runs);
  const model = createRankModel(multiplier, candidates.vectors.columns, random, {
    ...lesson.model,
    runs: past.runs.length,
    bilinear: { pace: headsPace(past.runs.length), ...lesson.model?.bilinear },
  });
  const runs = yield* examplesFrom(lesson, past, model.wantsPast, random);
  const taught = runs.length;
  const losses: number[] = [];
  if (taught >= DEFAULTS.leastRuns) {
    const examples = [...runs, ...(yield* foreignExamples(lesson, past, taught, model.wantsPast, random))];
    for (const { step, steps, loss } of trainRanker(model, candidates, examples, {
      seed,
      ...lesson.training,
    })) {
      losses.push(loss);
      yield { stage: 'training', done: step, total: steps, loss };
    }
    model.temper(taught / (taught + DEFAULTS.doubt));
  }
  const familiarity = yield* familiarityOf(lesson, past);
  const ranker = new Ranker(candidates, past, model, familiarity, { weights, textChances });
  return { ranker, runs: taught, losses };
}

function* familiarityOf(
  { candidates, weights }: Lesson,
  past: PastRuns,
): Generator<LearningProgress, Familiarity> {
  const looking = learnFamiliarity(candidates, past, (query) => candidates.textScores(query, weights));
  for (let looked = 1; ; looked++) {
    const { done, value } = looking.next();
    if (done) return value;
    yield { stage: 'features', done: Math.min(looked, past.runs.length), total: past.runs.length };
  }
}

/**
 * What a ranker that learned from the older runs is worth on the newest, beside search: nDCG@10 of each.
 * Empty where there are too few runs to learn from.
 */
export function* judgeLearning(lesson: Lesson): Generator<LearningProgress, GateEvidence> {
  const { runs, candidates } = lesson;
  const count = Math.min(DEFAULTS.mostHeldBack, Math.floor(runs.length * DEFAULTS.heldBack));
  const older = runs.slice(0, runs.length - count);
  const { steps: mostSteps, examples: mostExamples } = DEFAULTS.judging;
  const training = { ...lesson.training, mostSteps };
  const { ranker } = yield* learnRanker({ ...lesson, runs: older, training, mostExamples });
  const heldBack = runs.slice(runs.length - count).filter(({ succeeded }) => succeeded);
  const near = heldBack.flatMap((run): Judgeable[] => {
    const right = candidates.placesOf(run.uses);
    return right.length === 0 ? [] : [{ query: run, right, key: run.key }];
  });
  const { past } = ranker;
  const half = Math.floor(DEFAULTS.judgedForeign / 2);
  const far = [
    ...toolQuestions(half, candidates, past, createRandom(lesson.seed + 1)),
    ...past.runs.slice(-half).map((run) => runQuestion(run, past)),
  ];
  return { ...(yield* judge(ranker, near)), far: yield* judge(ranker, far) };
}

type Judgeable = Pick<ForeignQuestion, 'query' | 'right' | 'key'> &
  Partial<Pick<ForeignQuestion, 'isHidden'>>;

function* judge(ranker: Ranker, questions: readonly Judgeable[]): Generator<LearningProgress, JudgedQueries> {
  const judged = { learned: [] as number[], hybrid: [] as number[], keys: [] as number[] };
  for (const [i, { query, right, key, isHidden }] of questions.entries()) {
    const { learned, hybrid } = judgeQuery(ranker, query, right, isHidden);
    judged.learned.push(learned);
    judged.hybrid.push(hybrid);
    judged.keys.push(evidenceKey(key));
    yield { stage: 'judging', done: i + 1, total: questions.length };
  }
  return judged;
}

/** nDCG@10 of what was learned and of search. */
export function judgeQuery(
  ranker: Ranker,
  query: IntentForms,
  right: readonly number[],
  isHidden?: (run: number) => boolean,
): { readonly learned: number; readonly hybrid: number } {
  const gold = right.map((place) => [place]);
  const { logits, text } = ranker.rank(query, isHidden);
  return { learned: ndcg10(ranksOf(logits, gold)), hybrid: ndcg10(ranksOf(text.fused, gold)) };
}

/** The newest runs, as features look back on them, each weighed by the others. */
export function rememberRuns(candidates: Candidates, runs: readonly LearnableRun[]): PastRuns {
  const placed = runs.slice(-DEFAULTS.past).flatMap((run) => placeRun(candidates, run) ?? []);
  const past = new PastRuns(placed, candidates);
  const { beliefs, lessons } = weighRuns({
    uses: past.uses,
    succeeded: placed.map(({ succeeded }) => succeeded),
    similarities: (run) => past.cosines(placed[run]!.intent),
    cosines: (run) => candidates.cosines(placed[run]!.intent),
    isHidden: (run, other) => placed[run]!.key === placed[other]!.key,
  });
  past.weigh(beliefs, lessons);
  return past;
}

/** Few runs teach the heads by heart what should be understood; with many they may go faster. */
function headsPace(runs: number): number {
  const { slowest, fastest, runsToFastest } = DEFAULTS.pace;
  return Math.min(fastest, Math.max(slowest, (fastest * runs) / runsToFastest));
}

/** With what it used as places; null where none of it is known. */
export function placeRun(
  candidates: Candidates,
  run: LearnableRun,
): (PastRun & { readonly succeeded: boolean }) | null {
  const uses = candidates.placesOf(run.uses);
  return uses.length === 0 ? null : { ...run, uses };
}

/** Features of each run as if it and its like had not been seen. */
function* examplesFrom(
  { candidates, weights, mostExamples = Number.POSITIVE_INFINITY }: Lesson,
  past: PastRuns,
  wantsPast: boolean,
  random: Random,
): Generator<LearningProgress, TrainingExample[]> {
  const fitting = Math.max(1, Math.floor(DEFAULTS.rows / Math.max(1, candidates.size)));
  const sample = random.shuffle([...past.runs.keys()]).slice(0, Math.min(fitting, mostExamples));
  const examples: TrainingExample[] = [];
  for (const i of sample) {
    examples.push(exampleOf(past.runs[i]!, past.lessons[i]!, candidates, past, { weights, wantsPast }));
    yield { stage: 'features', done: examples.length, total: sample.length };
  }
  return examples;
}

/** Questions that the past says nothing of, so that what was learned there counts for as little. */
function* foreignExamples(
  { candidates, weights, mostExamples = Number.POSITIVE_INFINITY }: Lesson,
  past: PastRuns,
  taught: number,
  wantsPast: boolean,
  random: Random,
): Generator<LearningProgress, TrainingExample[]> {
  const { tools, leastTools, runs, weight: bounds } = DEFAULTS.foreign;
  const narrowness = narrownessOf(past.uses);
  const weight = narrowness * bounds.narrow + (1 - narrowness) * bounds.diverse;
  const fitting = Math.floor(DEFAULTS.rows / Math.max(1, candidates.size));
  const most = Math.min(fitting, mostExamples);
  const ofTools = Math.min(most, Math.max(leastTools, Math.round(tools * taught)));
  const ofRuns = random.shuffle([...past.runs.keys()]).slice(0, Math.round(runs * taught));
  const questions = [
    ...toolQuestions(ofTools, candidates, past, random).map((question) => ({ question, lesson: 1 })),
    ...ofRuns.map((i) => ({ question: runQuestion(past.runs[i]!, past), lesson: past.lessons[i]! })),
  ];
  const examples: TrainingExample[] = [];
  for (const { question, lesson } of questions) {
    const { query, right, isHidden } = question;
    const text = candidates.textScores(query, weights);
    examples.push({
      features: rankFeatures(query, text, candidates, past, isHidden),
      intent: query.intent,
      right,
      weight: weight * lesson,
      ...(wantsPast && pastForTerms(query.intent, past, isHidden)),
    });
    yield { stage: 'features', done: examples.length, total: questions.length };
  }
  return examples;
}
