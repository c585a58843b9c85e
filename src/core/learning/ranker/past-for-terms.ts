import { TopK } from '../../numeric/top-k.ts';
import type { PastRuns } from './past-runs.ts';
import type { RankExample } from './rank-term.ts';

const DEFAULTS = {
  /** Past runs that are looked through, nearest first. */
  runs: 128,
  /** Past intents kept of each candidate. */
  nearest: 8,
  /** Weight above which a run counts as a success: one that failed has less. */
  success: 0.4,
};

/** What terms ask of past runs beside the features. */
export type PastForTerms = Required<Pick<RankExample, 'pastIntents' | 'edges' | 'hiddenEdges'>>;

/**
 * Hidden runs give neither intents nor edges. `edges` are what the runs used, in their order, and whatever sets
 * belong to the hypergraph besides after them; the same list for all examples of a batch.
 */
export function pastForTerms(
  intent: Float32Array,
  past: Pick<PastRuns, 'runs' | 'uses' | 'weights' | 'cosines'>,
  isHidden: (run: number) => boolean = () => false,
  edges: readonly (readonly number[])[] = past.uses,
): PastForTerms {
  const { runs, nearest, success } = DEFAULTS;
  const cosines = past.cosines(intent);
  const near = new TopK(runs);
  const hiddenEdges: number[] = [];
  for (let run = 0; run < past.runs.length; run++) {
    if (isHidden(run)) hiddenEdges.push(run);
    else if (past.weights[run]! > success) near.offer(run, cosines[run]!);
  }
  const pastIntents = new Map<number, Float32Array[]>();
  for (const { row } of near.sorted()) {
    for (const place of past.uses[row]!) {
      const intents = pastIntents.get(place) ?? [];
      if (intents.length < nearest) pastIntents.set(place, [...intents, past.runs[row]!.intent]);
    }
  }
  return { pastIntents, edges, hiddenEdges };
}
