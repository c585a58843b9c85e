import { fitListwise, linearScores } from '../core/learning/optim/listwise-logistic.ts';
import { rowOf, standardised } from '../core/numeric/matrices.ts';
import type { Random } from '../core/numeric/random.ts';
import { nearestVotes } from '../core/retrieval/past-intents.ts';
import { lexicalScores } from '../core/retrieval/text-scores.ts';
import { words } from '../core/retrieval/words.ts';
import type { Task } from './data-set.ts';
import { markovChances, type NextCase, nextCases, sequenceOf, Transitions } from './next-steps.ts';
import { intentVectors, type PastEvidence, pastEvidence, pastRuns } from './past-runs.ts';
import type { Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Number of moments on which the weights are fitted. */
  fittedOn: 800,
  /** Most feature rows for these: with thousands of tools there are fewer moments. */
  rows: 600_000,
  features: 11,
  /** Added to a probability before its logarithm. */
  least: 1e-3,
};

/** Scores of every tool for each case. */
export interface NextRanking {
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
