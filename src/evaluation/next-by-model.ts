import { learnNext } from '../core/learning/next/learn-next.ts';
import { scoreSteps } from '../core/planning/suggest/predict-next.ts';
import type { SearchWeights } from '../core/retrieval/search-weights.ts';
import type { Task } from './data-set.ts';
import type { NextCase } from './next-steps.ts';
import { candidatesOf, driven, formsOf, runOf } from './rank-by-model.ts';
import type { Workbench } from './workbench.ts';

/** Chances of every tool for each case, of a predictor that learned from the runs that have an order. */
export function rankNextByModel(
  bench: Workbench,
  train: readonly Task[],
  test: readonly NextCase[],
  alike: (task: Task) => string,
  { weights, seed }: { weights: SearchWeights; seed: number },
): Float64Array[] {
  const candidates = candidatesOf(bench);
  const runs = train.filter(({ isOrdered }) => isOrdered).map((task) => runOf(bench, task, alike(task)));
  const learned = driven(learnNext({ candidates, runs, multiplier: bench.multiplier, seed, weights }));
  const chances = new Map<NextCase, Float64Array>();
  for (const [task, cases] of Map.groupBy(test, ({ task }) => task)) {
    const scores = scoreSteps(
      learned,
      formsOf(bench, task),
      cases.map(({ before }) => before),
    );
    for (const [i, each] of cases.entries()) chances.set(each, scores[i]!.chances);
  }
  return test.map((each) => chances.get(each)!);
}
