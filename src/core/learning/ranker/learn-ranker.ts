import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { SearchWeights, TextChances } from '../../retrieval/text-scores.ts';
import { evidenceKey, type GateEvidence, type JudgedQueries } from '../gate/gate.ts';
import { ndcg10, ranksOf } from '../gate/metrics.ts';
import { type Candidates, type IntentForms, narrownessOf } from './candidates.ts';
import { type Familiarity, learnFamiliarity } from './familiarity.ts';
import { type ForeignQuestion, runQuestion, toolQuestions } from './foreign-questions.ts';
import { type LeftOut, leaveOut } from './leave-out.ts';
import { type PastRun, PastRuns, pastForTerms } from './past-runs.ts';
import { rankFeatures } from './rank-features.ts';
import { createRankModel, type RankModelOptions } from './rank-model.ts';
import { Ranker } from './ranker.ts';
import { exampleOf, type TrainingExample, type TrainingOptions, trainRanker } from './train-ranker.ts';
import { weighRuns } from './weigh-runs.ts';

const DEFAULTS = {
  /** Most feature rows in memory while training, over all examples: about 80 MB. */
  rows: 800_000,
  /** Most past runs used for features, the newest. */
  past: 5_000,
  /** Share of the runs that is held back for judging, the newest, and their greatest number. */
  heldBack: 0.2,
  mostHeldBack: 100,
  /** With fewer runs nothing is trained, and search serves unchanged. */
  leastRuns: 10,
  /** Pseudo-count in favour of search: with n runs, learned weights are scaled by n / (n + doubt). */
  doubt: 5,
  /**
   * Limits of the training that is only judged: whether it beats search shows long before all runs are
   * memorised, and a ranker that learned less errs on the side of search.
   */
  judging: { steps: 300, examples: 1_000 },
  /** Runs that are left to learn from, below which nothing is left out: plans are not learned from fewer. */
  leastProbed: 30,
  /**
   * Numbers of foreign questions as shares of the number of runs, and their weight: without them a ranker learns from
   * a narrow past that used tools are correct for any query. A diverse past shows otherwise by itself. These are the
   * smallest shares and weights that were enough on six sets.
   */
  foreign: { tools: 0.5, leastTools: 50, runs: 0.3, weight: { narrow: 0.3, diverse: 0.05 } },
  /** Number of foreign questions that are judged. */
  judgedForeign: 60,
  /** Learning rate of the heads, as a share of the whole. */
  pace: { slowest: 1 / 30, fastest: 0.1, runsToFastest: 500 },
};

/** A run to learn from. */
export interface LearnableRun extends IntentForms {
  /** Ids of the tools it used, in order. */
  readonly uses: readonly string[];
  readonly succeeded: boolean;
  /** What a person said of it, which outranks all that is inferred; absent: nothing. */
  readonly verdict?: 'good' | 'bad';
  /** Runs with the same key are the same work. */
  readonly key: string;
  /** A run that waited for a person is reported several times under its id: the last report counts. */
  readonly runId?: string;
  /** A job of single calls, as far as it has come: it takes the place of what was known of it. */
  readonly isJob?: boolean;
  /** One call of one tool by itself: no whole job. */
  readonly isSingle?: boolean;
  /** The run's words must not be shown to others. */
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
  /** Most runs to train on, drawn at random; features still use all of them. */
  readonly mostExamples?: number;
}

export type LearningStage = 'judging' | 'features' | 'training';

export interface LearningProgress {
  readonly stage: LearningStage;
  readonly done: number;
  readonly total: number;
  /** Loss of the last step, while training. */
  readonly loss?: number;
}

export interface Learned {
  readonly ranker: Ranker;
  /** Number of runs it learned from. */
  readonly runs: number;
  /** One loss per step. */
  readonly losses: readonly number[];
}

/**
 * Trains on all runs. A generator, so that the caller can report progress, let other work run in
 * between, or stop, which leaves everything unchanged.
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
 * nDCG@10 on the newest runs, of search and of a ranker that learned from the older runs.
 * Empty if there are too few runs to learn from.
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

/** A ranker that has not seen all the work there is: what it says of the rest shows how far it can be trusted. */
export interface Probe {
  readonly ranker: Ranker;
  readonly leftOut: LeftOut;
}

/** Learns from the runs but for some servers and some other work; null where too few runs, or none, would be left. */
export function* probeLearning(lesson: Lesson): Generator<LearningProgress, Probe | null> {
  const { candidates, seed } = lesson;
  const { steps: mostSteps, examples: mostExamples } = DEFAULTS.judging;
  const leftOut = leaveOut(lesson.runs, candidates, createRandom(seed + 2));
  const runs = keptFrom(lesson.runs, leftOut);
  if (leftOut.tools.length === 0 || runs.length < DEFAULTS.leastProbed) return null;
  const training = { ...lesson.training, mostSteps };
  const { ranker } = yield* learnRanker({ ...lesson, runs, training, mostExamples });
  return { ranker, leftOut };
}

/** The runs that are left. */
export function keptFrom(runs: readonly LearnableRun[], { tools, keys }: LeftOut): LearnableRun[] {
  const [outTools, outKeys] = [new Set(tools), new Set(keys)];
  return runs.filter(({ uses, key }) => !outKeys.has(key) && !uses.some((id) => outTools.has(id)));
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

/** nDCG@10 of the learned ranker and of search. */
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

/** The newest runs as features use them, each weighed by the others. */
export function rememberRuns(candidates: Candidates, runs: readonly LearnableRun[]): PastRuns {
  const placed = runs.slice(-DEFAULTS.past).flatMap((run) => placeRun(candidates, run) ?? []);
  const past = new PastRuns(placed, candidates);
  const { beliefs, lessons } = weighRuns({
    uses: past.uses,
    succeeded: placed.map(({ succeeded }) => succeeded),
    verdicts: placed.map(({ verdict }) => verdict),
    similarities: (run) => past.cosines(placed[run]!.intent),
    cosines: (run) => candidates.cosines(placed[run]!.intent),
    isHidden: (run, other) => placed[run]!.key === placed[other]!.key,
  });
  past.weigh(beliefs, lessons);
  return past;
}

/** With few runs, fast heads would memorise them; with many they may learn faster. */
function headsPace(runs: number): number {
  const { slowest, fastest, runsToFastest } = DEFAULTS.pace;
  return Math.min(fastest, Math.max(slowest, (fastest * runs) / runsToFastest));
}

/** Replaces ids by indices; null if none of them is known. */
export function placeRun(
  candidates: Candidates,
  run: LearnableRun,
): (PastRun & Pick<LearnableRun, 'succeeded' | 'verdict'>) | null {
  const uses = candidates.placesOf(run.uses);
  return uses.length === 0 ? null : { ...run, uses };
}

/** Features of each run as if it and runs of the same work had not been seen. */
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

/** Questions that resemble nothing in the past, so that the ranker learns to follow search there. */
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
