import type { Candidates } from './candidates.ts';
import { type LearnableRun, rememberRuns } from './learn-ranker.ts';
import type { PastRuns } from './past-runs.ts';

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

export function rememberSequences(candidates: Candidates, runs: readonly LearnableRun[]): PastSequences {
  const known = runs.filter(({ uses }) => uses.some((id) => candidates.placeOf(id) !== undefined));
  const past = rememberRuns(candidates, known);
  // Only the newest are remembered, and none of those is left out here.
  const kept = known.slice(known.length - past.runs.length);
  return { past, sequences: kept.map(({ uses }) => sequenceOf(candidates, uses)) };
}

/** Places of known ids, in order, repeats kept. */
export function sequenceOf(candidates: Candidates, ids: readonly string[]): number[] {
  return ids.flatMap((id) => candidates.placeOf(id) ?? []).slice(0, DEFAULTS.calls);
}
