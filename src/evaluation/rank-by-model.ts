import { Candidates, type IntentForms } from '../core/learning/candidates.ts';
import { type FusionWeights, searchFusion } from '../core/learning/fusion-term.ts';
import { type LearnableRun, type Learned, type Lesson, learnRanker } from '../core/learning/learn-ranker.ts';
import { rowOf } from '../core/numeric/matrices.ts';
import { createRandom } from '../core/numeric/random.ts';
import { clauses } from '../core/retrieval/clauses.ts';
import type { SearchWeights } from '../core/retrieval/search-weights.ts';
import { toolWords } from '../core/retrieval/tool-words.ts';
import { words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import type { Workbench } from './workbench.ts';

/** Replaced by measured figures before it serves. */
export const OPTIONS: any = { prior: null };

export function candidatesOf({ index, book, toolVectors }: Workbench): Candidates {
  const entries = index.tools.map((tool, i) => ({
    id: tool.id,
    server: tool.server,
    name: tool.name,
    words: toolWords(tool),
    vector: rowOf(toolVectors, i),
  }));
  return new Candidates(entries, [], book.dimension);
}

export function formsOf({ book }: Workbench, { intent }: Task): IntentForms {
  const text = intent.trim();
  const parts = clauses(text);
  return {
    text,
    intent: book.of(text),
    clauses: parts.length > 1 ? parts.map((part) => book.of(part)) : [book.of(text)],
    words: words(text),
  };
}

export function runOf(bench: Workbench, task: Task, key: string): LearnableRun {
  return { ...formsOf(bench, task), uses: task.tools, succeeded: true, key };
}

export function lessonOf(
  bench: Workbench,
  candidates: Candidates,
  train: readonly Task[],
  alike: (task: Task) => string,
  weights: SearchWeights,
  seed: number,
): Lesson {
  const random = createRandom(seed);
  return {
    candidates,
    runs: train.map((task) => runOf(bench, task, alike(task))),
    multiplier: bench.multiplier,
    random,
    prior: (OPTIONS.prior as FusionWeights) ?? searchFusion(random),
    weights,
    ...OPTIONS.lesson,
  };
}

export function driven<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

export function rankByModel(
  bench: Workbench,
  train: readonly Task[],
  test: readonly Task[],
  alike: (task: Task) => string,
  weights: SearchWeights,
  seed: number,
) {
  const candidates = candidatesOf(bench);
  const { ranker }: Learned = driven(learnRanker(lessonOf(bench, candidates, train, alike, weights, seed)));
  return test.map((task) => ranker.rank(formsOf(bench, task)).logits);
}
