import type { Candidates } from '../ranker/candidates.ts';
import { type LearnableRun, placeRun, rememberRuns } from '../ranker/learn-ranker.ts';
import { PastRuns } from '../ranker/past-runs.ts';

const DEFAULTS = {
  /** Calls of one run that are looked at, the first ones. */
  calls: 200,
};

/** Past runs with the order in which they called things. */
export interface PastSequences {
  readonly past: PastRuns;
  /** Places of what each run of `past` called, in order, repeats kept. */
  readonly sequences: readonly (readonly number[])[];
}

/** `beliefIn` is given where the runs were weighed already: weighing each by all others takes quadratic time. */
export function rememberSequences(
  candidates: Candidates,
  runs: readonly LearnableRun[],
  beliefIn?: (run: LearnableRun) => number,
): PastSequences {
  const known = runs.filter(({ uses }) => uses.some((id) => candidates.placeOf(id) !== undefined));
  const past = beliefIn ? believed(candidates, known, beliefIn) : rememberRuns(candidates, known);
  // Only the newest are remembered, and none of those is left out here.
  const kept = known.slice(known.length - past.runs.length);
  return { past, sequences: kept.map(({ uses }) => sequenceOf(candidates, uses)) };
}

function believed(
  candidates: Candidates,
  runs: readonly LearnableRun[],
  beliefIn: (run: LearnableRun) => number,
): PastRuns {
  const past = new PastRuns([], candidates);
  for (const run of runs) past.add(placeRun(candidates, run)!, beliefIn(run));
  return past;
}

/** Places of known ids, in order, repeats kept. */
export function sequenceOf(candidates: Candidates, ids: readonly string[]): number[] {
  return ids.flatMap((id) => candidates.placeOf(id) ?? []).slice(0, DEFAULTS.calls);
}
