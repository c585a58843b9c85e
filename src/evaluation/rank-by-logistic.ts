import { fitListwise, linearScores } from '../core/learning/optim/listwise-logistic.ts';
import { type Matrix, rowOf } from '../core/numeric/matrices.ts';
import type { Random } from '../core/numeric/random.ts';
import { standardised } from '../core/numeric/vectors.ts';
import { lexicalScores } from '../core/retrieval/text-scores.ts';
import { words } from '../core/retrieval/words.ts';
import { bilinearScores, trainBilinear } from './bilinear.ts';
import type { Task } from './data-set.ts';
import { intentVectors, type PastEvidence, type PastRuns, pastEvidence, pastRuns } from './past-runs.ts';
import type { Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Parts of the training tasks whose bilinear score is learned from the other parts. */
  parts: 3,
  /** Training tasks that the weights are fitted on: eight weights need no more. */
  fittedOn: 800,
  /** Among tools without a vote the cosine decides. */
  tieBreak: 1e-9,
  /** Where the fit starts: cosine and BM25 alone. */
  start: [0.8, 0.35, 0, 0, 0, 0, 0, 0],
};

/** Scores of every tool for each of the tasks. */
export interface LogisticRanking {
  readonly scores: readonly Float64Array[];
  /** Votes of the nearest past intents alone. */
  readonly votes: readonly Float64Array[];
}

/**
 * Listwise logistic regression on eight features, each standardised per query over all tools: cosine,
 * BM25, votes of the nearest past intents (by embedding, by words), greatest and mean similarity to the
 * past intents that used the tool, log popularity, a bilinear score. `alike` says which past runs must not
 * speak for a training task: itself, and in protocols without shared groups its whole group.
 */
export function rankByLogistic(
  bench: Workbench,
  train: readonly Task[],
  test: readonly Task[],
  alike: (task: Task) => string,
  random: Random,
): LogisticRanking {
  const past = pastRuns(bench, train);
  const testEvidence = pastEvidence(bench, past, test, () => false);
  const cosines = bench.multiplier.timesTransposed(intentVectors(bench, test), bench.toolVectors);
  const votes = testEvidence.map((evidence, i) => {
    const row = rowOf(cosines, i);
    return evidence.votes.map((vote, tool) => vote + DEFAULTS.tieBreak * row[tool]!);
  });
  if (train.length === 0) return { scores: votes, votes };
  const sample = random.shuffle([...train]).slice(0, DEFAULTS.fittedOn);
  const sampleEvidence = pastEvidence(bench, past, sample, (task, other) => alike(task) === alike(other));
  const heldOut = heldOutBilinear(bench, past, sample, alike, random);
  const examples = featuresOf(bench, sample, sampleEvidence, heldOut).map((features, i) => ({
    features,
    positives: bench.placesOf(sample[i]!),
  }));
  const weights = fitListwise(
    examples.filter(({ positives }) => positives.length > 0),
    DEFAULTS.start,
  );
  const bilinear = bilinearFor(bench, past, past.tasks, test, random);
  const scores = featuresOf(bench, test, testEvidence, bilinear).map((features) =>
    linearScores(features, weights),
  );
  return { scores, votes };
}

/** [features][tools] per task. */
function featuresOf(
  bench: Workbench,
  tasks: readonly Task[],
  evidence: readonly PastEvidence[],
  bilinear: readonly Float32Array[],
): Float64Array[][] {
  const cosines = bench.multiplier.timesTransposed(intentVectors(bench, tasks), bench.toolVectors);
  return tasks.map(({ intent }, i) => {
    const { votes, lexicalVotes, greatest, mean, popularity } = evidence[i]!;
    const lexical = lexicalScores(bench.index.lexical, words(intent));
    return [rowOf(cosines, i), lexical, votes, lexicalVotes, greatest, mean, popularity, bilinear[i]!].map(
      standardised,
    );
  });
}

/** Bilinear scores of training tasks, each by a model that saw nothing alike. */
function heldOutBilinear(
  bench: Workbench,
  past: PastRuns,
  tasks: readonly Task[],
  alike: (task: Task) => string,
  random: Random,
): Float32Array[] {
  const keys = random.shuffle([...new Set(past.tasks.map(alike))].sort());
  const partOf = new Map(keys.map((key, i) => [key, i % DEFAULTS.parts]));
  const scores = new Array<Float32Array>(tasks.length);
  for (let part = 0; part < DEFAULTS.parts; part++) {
    const places = tasks.flatMap((task, i) => (partOf.get(alike(task)) === part ? [i] : []));
    const others = past.tasks.filter((task) => partOf.get(alike(task)) !== part);
    const rows = bilinearFor(
      bench,
      past,
      others,
      places.map((i) => tasks[i]!),
      random,
    );
    for (const [k, i] of places.entries()) scores[i] = rows[k]!;
  }
  return scores;
}

function bilinearFor(
  bench: Workbench,
  past: PastRuns,
  seen: readonly Task[],
  tasks: readonly Task[],
  random: Random,
): Float32Array[] {
  const places = new Map(past.tasks.map((task, i) => [task, i]));
  const examples = seen.flatMap((task) => {
    const place = places.get(task)!;
    const tools = past.uses[place]!;
    return tools.length > 0 ? [{ intent: rowOf(past.vectors, place), tools }] : [];
  });
  const weights = trainBilinear(examples, bench.toolVectors, bench.multiplier, random);
  const scores: Matrix = bilinearScores(
    intentVectors(bench, tasks),
    weights,
    bench.toolVectors,
    bench.multiplier,
  );
  return tasks.map((_, i) => rowOf(scores, i));
}
