import { nextFigures, rankingFigures, ranksOf } from '../core/learning/metrics.ts';
import { createRandom } from '../core/numeric/random.ts';
import type {
  EvaluationReport,
  NextFigures,
  Protocol,
  RankingFigures,
} from '../core/vocabulary/evaluation-report.ts';
import { scoreTools } from '../engine/search.ts';
import type { DataSet, Task } from './data-set.ts';
import { type Fold, foldsOf } from './folds.ts';
import { weightsFor } from './held-out-weights.ts';
import { rankNext } from './next-by-logistic.ts';
import { rankNextByModel } from './next-by-model.ts';
import { nextCases } from './next-steps.ts';
import { foldRankers, planFigures } from './plan-quality.ts';
import { rankByLogistic } from './rank-by-logistic.ts';
import { type EvaluationPorts, openWorkbench, type Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Sizes of the learning curve; the last point is all there is. */
  curve: [0, 30, 100, 300, 1000],
};

export interface EvaluationOptions {
  readonly protocol: Protocol;
  readonly seed: number;
  readonly curve: boolean;
  /** Told what is being done, and how far it is where that is known. */
  readonly onProgress?: (what: string, done?: number, total?: number) => void;
}

const RANKERS = ['lexical', 'semantic', 'hybrid', 'knn', 'logistic'] as const;
const PREDICTORS = ['popularity', 'markov', 'logistic', 'learned'] as const;

/** Measures search and what can be learned from past runs on one data set; the same for the same seed. */
export async function evaluate(
  data: DataSet,
  options: EvaluationOptions,
  ports: EvaluationPorts,
): Promise<EvaluationReport> {
  const { protocol, seed, curve, onProgress } = options;
  const startedAt = performance.now();
  const folds = foldsOf(data, protocol, seed);
  const measured = folds.flatMap(({ test }) => test);
  // Clauses of all of them: what is measured is compared with past intents, clause by clause.
  const bench = await openWorkbench(data, [...data.train, ...data.test], ports, (done, total) =>
    onProgress?.(`${data.name}: embedding`, done, total),
  );
  // In `id` the same work may have been seen before, so only the run itself is hidden from itself.
  const alike = protocol === 'id' ? ({ id }: Task) => id : ({ group }: Task) => group;
  onProgress?.(`${data.name}: ranking`);
  const ranking = await measureRanking(bench, data.name, folds, alike, seed);
  onProgress?.(`${data.name}: next steps`);
  const next = measureNext(bench, data.name, folds, alike, seed);
  onProgress?.(`${data.name}: plans`);
  const plans = { bench, alike, weights: weightsFor(data.name), seed };
  const plan = planFigures(plans, folds, foldRankers(plans));
  return {
    dataset: data.name,
    split: data.split,
    protocol,
    n: measured.length,
    tools: data.tools.length,
    embedding: bench.book.model,
    ranking: { ...ranking, learned: null },
    next,
    plan,
    gate: null,
    curve: curve ? curveOf(folds[0]?.train.length ?? 0, ranking) : null,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

type Alike = (task: Task) => string;

async function measureRanking(
  bench: Workbench,
  name: string,
  folds: readonly Fold[],
  alike: Alike,
  seed: number,
): Promise<Record<(typeof RANKERS)[number], RankingFigures>> {
  const ranks = new Map<string, number[][]>(RANKERS.map((ranker) => [ranker, []]));
  const weights = weightsFor(name);
  for (const { train, test } of folds) {
    const learned = rankByLogistic(bench, train, test, alike, createRandom(seed));
    for (const [i, task] of test.entries()) {
      const served = await scoreTools(bench.index, bench.book, task.intent, weights);
      const scores = {
        lexical: served?.lexical,
        semantic: served?.whole,
        hybrid: served?.fused,
        knn: learned.votes[i],
        logistic: learned.scores[i],
      };
      for (const ranker of RANKERS)
        ranks.get(ranker)!.push(ranksOf(scores[ranker] ?? [], bench.goldOf(task)));
    }
  }
  return record(RANKERS, (ranker) => rankingFigures(ranks.get(ranker)!));
}

/** Null where no task has an order. */
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

/** Search that has not learned is the same at every point. */
function curveOf(
  traces: number,
  { semantic, hybrid }: { readonly semantic: RankingFigures; readonly hybrid: RankingFigures },
): EvaluationReport['curve'] {
  const sizes = [...DEFAULTS.curve.filter((size) => size < traces), traces];
  return sizes.map((size) => ({
    traces: size,
    semantic_mrr: semantic.mrr,
    hybrid_mrr: hybrid.mrr,
    learned_mrr: null,
  }));
}

function record<K extends string, V>(keys: readonly K[], of: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, V>;
}
