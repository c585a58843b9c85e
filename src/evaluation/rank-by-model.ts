import { Candidates, type IntentForms } from '../core/learning/ranker/candidates.ts';
import { type LearnableRun, type Lesson, learnRanker } from '../core/learning/ranker/learn-ranker.ts';
import type { RankModelOptions } from '../core/learning/ranker/rank-model.ts';
import type { Ranker } from '../core/learning/ranker/ranker.ts';
import type { TrainingOptions } from '../core/learning/ranker/train-ranker.ts';
import { type Floats, rowOf } from '../core/numeric/matrices.ts';
import type { PlanWorth } from '../core/planning/draft/plan-record.ts';
import type { SearchWeights, TextChances } from '../core/retrieval/text-scores.ts';
import { clauses, toolWords, words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import type { Workbench } from './workbench.ts';

export function candidatesOf({ index, embeddings, toolVectors }: Workbench): Candidates {
  const entries = index.tools.map((tool, i) => ({
    id: tool.id,
    server: tool.server,
    name: tool.name,
    words: toolWords(tool),
    vector: rowOf(toolVectors, i),
  }));
  return new Candidates(entries, [], embeddings.dimension);
}

export function formsOf({ embeddings }: Workbench, { intent }: Task): IntentForms {
  const text = intent.trim();
  const parts = clauses(text);
  return {
    text,
    intent: embeddings.of(text),
    clauses: parts.length > 1 ? parts.map((part) => embeddings.of(part)) : [embeddings.of(text)],
    words: words(text),
  };
}

export function runOf(bench: Workbench, task: Task, key: string): LearnableRun {
  return { ...formsOf(bench, task), uses: task.tools, succeeded: true, key };
}

/** Options shared by everything that learns from a data set's runs. */
export interface TeachingOptions {
  /** Search weights, fitted on other sets. */
  readonly weights: SearchWeights;
  /** Chances of tools by their text, fitted on other sets; the shipped ones if absent. */
  readonly textChances?: TextChances;
  /** What plans are worth, fitted on other sets; the shipped figures if absent. */
  readonly planWorth?: PlanWorth;
  readonly alike: (task: Task) => string;
  readonly seed: number;
  /** Model options of an ablation. */
  readonly model?: RankModelOptions;
  readonly training?: Partial<TrainingOptions>;
}

/** A workbench that trains one ranker per set of runs. */
export interface School {
  readonly bench: Workbench;
  readonly candidates: Candidates;
  readonly options: TeachingOptions;
  /** The ranker that learned from these runs. */
  rankerOf(train: readonly Task[]): Ranker;
  lesson(train: readonly Task[]): Lesson;
  /** Logits of every tool for a task, by the ranker that learned from these runs. */
  logitsFor(train: readonly Task[], task: Task): Floats;
}

export function openSchool(bench: Workbench, options: TeachingOptions): School {
  const candidates = candidatesOf(bench);
  const trained = new Map<readonly Task[], Ranker>();
  const lesson = (train: readonly Task[]): Lesson => ({
    candidates,
    runs: train.map((task) => runOf(bench, task, options.alike(task))),
    multiplier: bench.multiplier,
    seed: options.seed,
    weights: options.weights,
    ...(options.textChances && { textChances: options.textChances }),
    ...(options.model && { model: options.model }),
    ...(options.training && { training: options.training }),
  });
  const rankerOf = (train: readonly Task[]): Ranker => {
    const known = trained.get(train) ?? driven(learnRanker(lesson(train))).ranker;
    trained.set(train, known);
    return known;
  };
  const ranked = new WeakMap<Ranker, Map<Task, Floats>>();
  return {
    bench,
    candidates,
    options,
    lesson,
    rankerOf,
    logitsFor(train, task) {
      const ranker = rankerOf(train);
      const known = ranked.get(ranker) ?? new Map<Task, Floats>();
      ranked.set(ranker, known);
      const logits = known.get(task) ?? ranker.rank(formsOf(bench, task)).logits;
      known.set(task, logits);
      return logits;
    },
  };
}

export function driven<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}
