import { learnNext } from '../core/learning/next/learn-next.ts';
import { scoreSteps } from '../core/planning/suggest/predict-next.ts';
import type { SearchWeights } from '../core/retrieval/text-scores.ts';
import type { Task } from './data-set.ts';
import { candidatesOf, driven, formsOf, runOf } from './rank-by-model.ts';
import type { Workbench } from './workbench.ts';

/** A moment in a task: the tools called so far, and the next one. */
export interface NextCase {
  readonly task: Task;
  /** Indices of the tools called so far, in order; at least one. */
  readonly before: readonly number[];
  /** Indices of the correct tools: the next one and those that count as it. */
  readonly accepted: readonly number[];
}

/** Every moment after the first call of every task with a meaningful order. */
export function nextCases(bench: Workbench, tasks: readonly Task[]): NextCase[] {
  return tasks
    .filter(({ isOrdered }) => isOrdered)
    .flatMap((task) =>
      task.tools.slice(1).flatMap((tool, i): NextCase[] => {
        const before = sequenceOf(bench, { ...task, tools: task.tools.slice(0, i + 1) });
        return before.length === 0 ? [] : [{ task, before, accepted: bench.acceptedFor(task, tool) }];
      }),
    );
}

/** Indices of a task's tools in order, with repeats. */
export function sequenceOf(bench: Workbench, task: Task): number[] {
  return task.tools.flatMap((tool) => bench.acceptedFor({ ...task, alternatives: {} }, tool));
}

/** Number of times each tool was called, and directly followed another, by group and in total. */
export class Transitions {
  readonly #size: number;
  readonly #all = new Map<number, Float64Array>();
  readonly #byKey = new Map<string, (readonly [from: number, to: number])[]>();
  readonly #followers: Float64Array;
  #repeats = 0;

  constructor(size: number, runs: readonly { readonly key: string; readonly sequence: readonly number[] }[]) {
    this.#size = size;
    this.#followers = new Float64Array(size);
    for (const { key, sequence } of runs) {
      const pairs = sequence.slice(1).map((to, i) => [sequence[i]!, to] as const);
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), ...pairs]);
      for (const [from, to] of pairs) {
        this.#rowOf(from)[to]!++;
        this.#followers[to]!++;
        if (from === to) this.#repeats++;
      }
    }
  }

  /** How often each tool followed any other, without the runs of one key. */
  popularity(hidden?: string): Float64Array {
    const counts = this.#followers.slice();
    for (const [, to] of this.#pairsOf(hidden)) counts[to]!--;
    return counts;
  }

  /** How often a tool was repeated directly, without the runs of one key. */
  repeats(hidden?: string): number {
    const own = this.#pairsOf(hidden).filter(([from, to]) => from === to).length;
    return this.#repeats - own;
  }

  /** How often each tool followed this one, without the runs of one key. */
  after(from: number, hidden?: string): Float64Array {
    const counts = this.#all.get(from)?.slice() ?? new Float64Array(this.#size);
    for (const [each, to] of this.#pairsOf(hidden)) if (each === from) counts[to]!--;
    return counts;
  }

  #pairsOf(key: string | undefined): readonly (readonly [number, number])[] {
    return key === undefined ? [] : (this.#byKey.get(key) ?? []);
  }

  #rowOf(from: number): Float64Array {
    const row = this.#all.get(from) ?? new Float64Array(this.#size);
    this.#all.set(from, row);
    return row;
  }
}

/**
 * First-order Markov chain: P(next | last), backing off to the most frequent tools and to repetition of the last
 * tool.
 */
export function markovChances(transitions: Transitions, last: number, hidden?: string): Float64Array {
  const popularity = transitions.popularity(hidden);
  const total = sum(popularity) || 1;
  const again = transitions.repeats(hidden) / total;
  const after = transitions.after(last, hidden);
  const seen = sum(after);
  return after.map((count, tool) => {
    const prior = (1 - again) * (popularity[tool]! / total) + (tool === last ? again : 0);
    return (count + prior) / (seen + 1);
  });
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Probabilities of every tool for each case, by a predictor that learned from the ordered runs. */
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
