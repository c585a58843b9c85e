import { learnNext } from '../core/learning/next/learn-next.ts';
import { fitListwise, linearScores } from '../core/learning/optim/listwise-logistic.ts';
import { rowOf, standardised } from '../core/numeric/matrices.ts';
import type { Random } from '../core/numeric/random.ts';
import { scoreSteps } from '../core/planning/suggest/predict-next.ts';
import { nearestVotes } from '../core/retrieval/past-intents.ts';
import { lexicalScores, type SearchWeights } from '../core/retrieval/text-scores.ts';
import { words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import { candidatesOf, driven, formsOf, runOf } from './rank-by-model.ts';
import { intentVectors, type PastEvidence, pastEvidence, pastRuns, type Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Number of moments on which the weights are fitted. */
  fittedOn: 800,
  /** Most feature rows for these: with thousands of tools there are fewer moments. */
  rows: 600_000,
  features: 11,
  /** Added to a probability before its logarithm. */
  least: 1e-3,
};

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

/** Scores of every tool for each case. */
interface NextRanking {
  readonly popularity: readonly Float64Array[];
  readonly markov: readonly Float64Array[];
  readonly logistic: readonly Float64Array[];
}

/**
 * Three predictors of the next tool: the most frequent tool, the most frequent successor of the last tool, and a
 * listwise logistic mix of these with the intent and similar runs.
 */
export function rankNext(
  bench: Workbench,
  train: readonly Task[],
  test: readonly NextCase[],
  alike: (task: Task) => string,
  random: Random,
): NextRanking {
  const ordered = train.filter(({ isOrdered }) => isOrdered);
  const runs = ordered.map((task) => ({ key: alike(task), sequence: sequenceOf(bench, task) }));
  const transitions = new Transitions(bench.index.tools.length, runs);
  const popularity = transitions.popularity();
  const mix = createMix(bench, ordered, runs, transitions, alike);
  const sample = random.shuffle(nextCases(bench, ordered)).slice(0, momentsFor(bench.index.tools.length));
  const examples = mix(sample, true)
    .map((features, i) => ({ features, positives: sample[i]!.accepted }))
    .filter(({ positives }) => positives.length > 0);
  const weights = fitListwise(examples, new Array(DEFAULTS.features).fill(0));
  return {
    popularity: test.map(() => popularity),
    markov: test.map(({ before }) => markovChances(transitions, before.at(-1)!)),
    logistic: mix(test, false).map((features) => linearScores(features, weights)),
  };
}

function momentsFor(tools: number): number {
  return Math.min(DEFAULTS.fittedOn, Math.ceil(DEFAULTS.rows / tools));
}

/** [features][tools] per case; training cases do not see their own run or runs of the same work. */
function createMix(
  bench: Workbench,
  past: readonly Task[],
  runs: readonly { readonly key: string; readonly sequence: readonly number[] }[],
  transitions: Transitions,
  alike: (task: Task) => string,
) {
  const size = bench.index.tools.length;
  const history = pastRuns(bench, past);
  const toolCosines = bench.multiplier.timesTransposed(bench.toolVectors, bench.toolVectors);

  return (cases: readonly NextCase[], hideAlike: boolean): Float64Array[][] => {
    const tasks = [...new Set(cases.map(({ task }) => task))];
    const hides = (task: Task, other: Task) => hideAlike && alike(task) === alike(other);
    const evidence = new Map(pastEvidence(bench, history, tasks, hides).map((each, i) => [tasks[i]!, each]));
    const cosines = bench.multiplier.timesTransposed(intentVectors(bench, tasks), bench.toolVectors);
    const text = new Map(
      tasks.map((task, i) => [
        task,
        [rowOf(cosines, i), lexicalScores(bench.index.lexical, words(task.intent))].map(standardised),
      ]),
    );
    return cases.map(({ task, before }) => {
      const last = before.at(-1)!;
      const key = hideAlike ? alike(task) : undefined;
      const { votes, greatest, popularity, cosines: toPast } = evidence.get(task)!;
      const used = flags(size, before);
      return [
        ...text.get(task)!,
        ...[votes, greatest, popularity, likeRuns(last, toPast, key)].map(standardised),
        markovChances(transitions, last, key).map(logarithm),
        meanChances(before.slice(0, -1), key).map(logarithm),
        standardised(rowOf(toolCosines, last)),
        used,
        flags(size, [last]),
      ];
    });
  };

  /** Votes of the nearest past runs that continued after this tool, for the tools that followed. */
  function likeRuns(
    last: number,
    cosines: PastEvidence['cosines'],
    hidden: string | undefined,
  ): Float64Array {
    const uses = runs.map(({ sequence }) => [
      ...new Set(sequence.slice(1).filter((_, i) => sequence[i] === last)),
    ]);
    const isHidden = (run: number) => uses[run]!.length === 0 || runs[run]!.key === hidden;
    return nearestVotes(cosines, { size, uses, isHidden });
  }

  /** Mean probability to follow the tools called earlier. */
  function meanChances(earlier: readonly number[], hidden: string | undefined): Float64Array {
    const mean = new Float64Array(size);
    for (const tool of new Set(earlier)) {
      const chances = markovChances(transitions, tool, hidden);
      for (let i = 0; i < size; i++) mean[i]! += chances[i]! / earlier.length;
    }
    return mean;
  }
}

function logarithm(chance: number): number {
  return Math.log(chance + DEFAULTS.least);
}

/** 1 at these indices, 0 elsewhere. */
function flags(size: number, places: readonly number[]): Float64Array {
  const values = new Float64Array(size);
  for (const place of places) values[place] = 1;
  return values;
}
