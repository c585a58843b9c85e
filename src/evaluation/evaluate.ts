import { CLOSED_GATE, decideGate } from '../core/learning/gate/gate.ts';
import { mean, ndcg10, nextFigures, rankingFigures, ranksOf } from '../core/learning/gate/metrics.ts';
import { pairedBootstrap } from '../core/learning/gate/paired-bootstrap.ts';
import { judgeLearning } from '../core/learning/ranker/learn-ranker.ts';
import { createRandom } from '../core/numeric/random.ts';
import { type PlanWorth, SHIPPED_PLAN_WORTH } from '../core/planning/draft/plan-record.ts';
import { SHIPPED_TEXT_CHANCES, type TextChances } from '../core/retrieval/text-scores.ts';
import type {
  CurvePoint,
  EvaluationReport,
  NextFigures,
  Protocol,
  RankingGain,
} from '../core/vocabulary/evaluation-report.ts';
import { scoreTools } from '../engine/catalogue/search.ts';
import { cautionOf, measureOpposites, rankNeverUsed } from './caution.ts';
import type { DataSet, Task } from './data-set.ts';
import { type Fold, foldsOf, planFolds, repeatedFolds } from './folds.ts';
import { nextCases, rankNext, rankNextByModel } from './next-steps.ts';
import { createDrafter, planFigures, scorePlans } from './plan-quality.ts';
import { rankByLogistic } from './rank-by-logistic.ts';
import { driven, openSchool, type School } from './rank-by-model.ts';
import { type EvaluationPorts, openWorkbench, type Workbench, weightsFor } from './workbench.ts';

const DEFAULTS = {
  /** Numbers of past runs; the last point uses all runs. */
  sizes: [0, 30, 100, 300, 1000],
};

/** 1 / rank of the first correct tool of every measured task, in the order of the folds. */
type ReciprocalRanks = readonly number[];

interface CurveOptions {
  /** How many random samples of runs each point is trained on; figures are means over these. */
  readonly draws: number;
  readonly onProgress?: ((what: string, done?: number, total?: number) => void) | undefined;
}

export interface EvaluationOptions {
  readonly protocol: Protocol;
  readonly seed: number;
  /** Random samples of runs for each point of the learning curve; 0 for no curve. */
  readonly draws: number;
  /** Called with the current activity, and its progress if known. */
  readonly onProgress?: (what: string, done?: number, total?: number) => void;
}

/** Protocols in which queries are far from all past work; the next tool is not measured there. */
const FAR: readonly Protocol[] = ['narrow', 'new-tools'];

const RANKERS = ['lexical', 'semantic', 'hybrid', 'knn', 'logistic', 'learned'] as const;
const PREDICTORS = ['popularity', 'markov', 'logistic', 'learned'] as const;

/** Measures search and learning from past runs on one data set; deterministic for a seed. */
export async function evaluate(
  data: DataSet,
  options: EvaluationOptions,
  ports: EvaluationPorts,
): Promise<EvaluationReport> {
  const { protocol, seed, draws, onProgress } = options;
  const startedAt = performance.now();
  const folds = foldsOf(data, protocol, seed);
  const measured = folds.flatMap(({ test }) => test);
  // Clauses of all tasks are needed, because queries are compared with past intents clause by clause.
  const bench = await openWorkbench(data, [...data.train, ...data.test], ports, (done, total) =>
    onProgress?.(`${data.name}: embedding`, done, total),
  );
  // In `id` the same work may have been seen before, and a narrow past may be a single group, so a run is only hidden
  // from itself.
  const isByRun = protocol === 'id' || protocol === 'narrow';
  const alike = isByRun ? ({ id }: Task) => id : ({ group }: Task) => group;
  const weights = weightsFor(data.name);
  const fitted = { textChances: textChancesFor(data.name), planWorth: planWorthFor(data.name) };
  const schoolOf = (drawn: number) => openSchool(bench, { weights, ...fitted, alike, seed: drawn });
  const school = schoolOf(seed);
  onProgress?.(`${data.name}: ranking`);
  const ranks = await rankTasks(school, folds);
  onProgress?.(`${data.name}: next steps`);
  const isFar = FAR.includes(protocol);
  const next = isFar ? null : measureNext(bench, data.name, repeatedFolds(data, protocol, seed), alike, seed);
  onProgress?.(`${data.name}: plans`);
  const plans = await scorePlans(bench, createDrafter(school), planFolds(data, protocol, seed, folds));
  const opposites = protocol === 'narrow' ? await measureOpposites(seed, ports) : null;
  return {
    dataset: data.name,
    split: data.split,
    protocol,
    seed,
    train: Math.round(mean(folds.map(({ train }) => train.length))),
    n: measured.length,
    overlap: folds.reduce((sum, fold) => sum + overlapOf(fold), 0),
    tools: data.tools.length,
    embedding: bench.embeddings.model,
    ranking: record(RANKERS, (ranker) => rankingFigures(ranks[ranker])),
    gains: gainsOf(ranks, measured, seed),
    next,
    plan: planFigures(plans),
    caution: isFar ? cautionOf(plans, rankNeverUsed(bench, folds, ranks), opposites) : null,
    gate: measureGate(school, folds[0]!),
    curve:
      draws > 0
        ? learningCurve(
            (drawn) => (drawn === seed ? school : schoolOf(drawn)),
            folds,
            { semantic: reciprocals(ranks.semantic), hybrid: reciprocals(ranks.hybrid) },
            seed,
            { draws, onProgress },
          )
        : null,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

type Alike = (task: Task) => string;

/** For every measured task, the ranks of its correct tools. */
type TaskRanks = Readonly<Record<(typeof RANKERS)[number], readonly (readonly number[])[]>>;

async function rankTasks(
  { bench, logitsFor, options: { alike, weights, seed } }: School,
  folds: readonly Fold[],
): Promise<TaskRanks> {
  const ranks = record(RANKERS, (): number[][] => []);
  for (const { train, test } of folds) {
    const byLogistic = rankByLogistic(bench, train, test, alike, createRandom(seed));
    for (const [i, task] of test.entries()) {
      const served = await scoreTools(bench.index, bench.embeddings, task.intent, weights);
      const scores = {
        lexical: served?.lexical,
        semantic: served?.whole,
        hybrid: served?.fused,
        knn: byLogistic.votes[i],
        logistic: byLogistic.scores[i],
        learned: logitsFor(train, task),
      };
      for (const ranker of RANKERS) ranks[ranker].push(ranksOf(scores[ranker] ?? [], bench.goldOf(task)));
    }
  }
  return ranks;
}

/** Number of measured tasks with exactly the words of a training task. */
function overlapOf({ train, test }: Fold): number {
  const seen = new Set(train.map(({ intent }) => intent.trim()));
  return test.filter(({ intent }) => seen.has(intent.trim())).length;
}

function reciprocals(tasks: TaskRanks['learned']): number[] {
  return tasks.map((ranks) => 1 / Math.min(...ranks));
}

/** How much better the learned ranker is than others on the same tasks. */
function gainsOf(ranks: TaskRanks, measured: readonly Task[], seed: number): EvaluationReport['gains'] {
  const groups = measured.map(({ group }) => group);
  const gain = (a: readonly number[], b: readonly number[]) =>
    pairedBootstrap(a, b, createRandom(seed), { groups });
  const over = (other: (typeof RANKERS)[number]): RankingGain => ({
    mrr: gain(reciprocals(ranks.learned), reciprocals(ranks[other])),
    ndcg10: gain(ranks.learned.map(ndcg10), ranks[other].map(ndcg10)),
  });
  return {
    over_semantic: over('semantic'),
    over_hybrid: over('hybrid'),
    over_logistic: over('logistic'),
  };
}

/** Null if no task has an order. */
function measureNext(
  bench: Workbench,
  name: string,
  folds: readonly Fold[],
  alike: Alike,
  seed: number,
): EvaluationReport['next'] {
  const ranks = new Map<string, number[]>(PREDICTORS.map((predictor) => [predictor, []]));
  for (const { train, test } of folds) {
    const cases = nextCases(bench, test);
    if (cases.length === 0) continue;
    const scores = {
      ...rankNext(bench, train, cases, alike, createRandom(seed)),
      learned: rankNextByModel(bench, train, cases, alike, { weights: weightsFor(name), seed }),
    };
    for (const predictor of PREDICTORS) {
      for (const [i, { accepted }] of cases.entries()) {
        ranks.get(predictor)!.push(...ranksOf(scores[predictor][i]!, [accepted]));
      }
    }
  }
  if (ranks.get('markov')!.length === 0) return null;
  return record(PREDICTORS, (predictor): NextFigures => nextFigures(ranks.get(predictor)!));
}

/** The gate's decision in a gateway with these runs. */
function measureGate({ lesson, options }: School, { train }: Fold): EvaluationReport['gate'] {
  const evidence = driven(judgeLearning(lesson(train)));
  const { open, gain, ci95 } = decideGate(CLOSED_GATE, evidence, {
    random: createRandom(options.seed),
    now: 0,
  });
  return { open, gain, ci95 };
}

function record<K extends string, V>(keys: readonly K[], of: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;
}

/** Search does not learn and is the same at every point; the ranker is trained on more and more runs. */
function learningCurve(
  schoolOf: (seed: number) => School,
  folds: readonly Fold[],
  search: { readonly semantic: ReciprocalRanks; readonly hybrid: ReciprocalRanks },
  seed: number,
  { draws, onProgress }: CurveOptions,
): CurvePoint[] {
  const most = Math.max(...folds.map(({ train }) => train.length));
  const sizes = [...DEFAULTS.sizes.filter((size) => size < most), most];
  return sizes.map((size, i) => {
    const rounds = Array.from({ length: draws }, (_, draw) => {
      onProgress?.('learning curve', i * draws + draw, sizes.length * draws);
      return reciprocalRanks(schoolOf(seed + draw), folds, size, seed + draw);
    });
    // One value per task: further samples of runs are not further tasks.
    const learned = rounds[0]!.map((_, task) => mean(rounds.map((round) => round[task]!)));
    const groups = folds.flatMap(({ test }) => test.map(({ group }) => group));
    return {
      traces: size,
      semantic_mrr: mean(search.semantic),
      hybrid_mrr: mean(search.hybrid),
      learned_mrr: mean(learned),
      over_semantic: pairedBootstrap(learned, search.semantic, createRandom(seed), { groups }),
      over_hybrid: pairedBootstrap(learned, search.hybrid, createRandom(seed), { groups }),
    };
  });
}

function reciprocalRanks(
  { bench, logitsFor }: School,
  folds: readonly Fold[],
  size: number,
  seed: number,
): number[] {
  return folds.flatMap(({ train, test }) => {
    const drawn = createRandom(seed).shuffle([...train]);
    const seen = size >= train.length ? train : drawn.slice(0, size);
    return test.map((task) => 1 / Math.min(...ranksOf(logitsFor(seen, task), bench.goldOf(task))));
  });
}

/** By data set that the shipped chances were fitted on: chances fitted on the others by scripts/fit-text-chances.ts. */
const HELD_OUT_CHANCES: Readonly<Record<string, TextChances>> = {
  livemcp: { bias: -1.58, score: 4.5, rank: -0.82, lead: 12.29 },
  mcpbench: { bias: -2.29, score: 5.61, rank: -0.88, lead: 12.34 },
  toole: { bias: -1.28, score: 3.68, rank: -0.8, lead: 12.47 },
  toollink: { bias: -2.42, score: 6.75, rank: -0.64, lead: 8.16 },
  traject: { bias: -1.81, score: 4.63, rank: -0.85, lead: 13.38 },
  ultratool: { bias: -1.91, score: 4.77, rank: -0.71, lead: 13.78 },
};

/** The chances for a data set, fitted without it. */
export function textChancesFor(dataset: string): TextChances {
  return HELD_OUT_CHANCES[dataset] ?? SHIPPED_TEXT_CHANCES;
}

/** The same of what plans are worth, by scripts/fit-plan-worth.ts. */
const HELD_OUT_WORTH: Readonly<Record<string, PlanWorth>> = {
  livemcp: [0.01, 0.46, 0.41, 0.08, -0.79],
  mcpbench: [0, 0.48, 0.4, 0, -0.64],
  toole: [-0.03, 0.4, 0.45, 0.06, -0.6],
  toollink: [-0.08, 0.51, 0.33, 0.14, -0.9],
  traject: [-0.27, 0.68, 0.4, 0.11, -0.77],
  ultratool: [-0.11, 0.48, 0.4, 0.06, -0.6],
};

function planWorthFor(dataset: string): PlanWorth {
  return HELD_OUT_WORTH[dataset] ?? SHIPPED_PLAN_WORTH;
}
