/** Measures the benefit of preferring tools of the last call's cluster as the next step. */

import { spectralClusters } from '../src/core/graph/clusters.ts';
import { ranksOf } from '../src/core/learning/gate/metrics.ts';
import { pairedBootstrap } from '../src/core/learning/gate/paired-bootstrap.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import type { Gain } from '../src/core/vocabulary/evaluation-report.ts';
import type { NodeId } from '../src/core/vocabulary/ids.ts';
import type { Task } from '../src/evaluation/data-set.ts';
import type { Fold } from '../src/evaluation/folds.ts';
import { type NextCase, nextCases, rankNextByModel, sequenceOf } from '../src/evaluation/next-steps.ts';
import { type Workbench, weightsFor } from '../src/evaluation/workbench.ts';
/** Added to the logits of tools in the cluster of the last call. */
export const BOOSTS = [0.25, 0.5, 1] as const;

/** For each boost, the gain in MRR of the next tool over the served ranking. */
export function clusterBoosts(
  bench: Workbench,
  name: string,
  folds: readonly Fold[],
  seed: number,
): { readonly cases: number; readonly gains: readonly Gain[] } {
  const reciprocals = [0, ...BOOSTS].map((): number[] => []);
  for (const { train, test } of folds) {
    const cases = nextCases(bench, test);
    const served = rankNextByModel(bench, train, cases, ({ group }: Task) => group, {
      weights: weightsFor(name),
      seed,
    });
    const clusters = clustersOf(bench, train);
    for (const [i, each] of cases.entries()) {
      for (const [k, boost] of [0, ...BOOSTS].entries()) {
        const logits = served[i]!.map(
          (chance, tool) => Math.log(chance) + boost * isNear(clusters, each, tool),
        );
        reciprocals[k]!.push(1 / ranksOf(logits, [each.accepted])[0]!);
      }
    }
  }
  const [plain, ...boosted] = reciprocals;
  return {
    cases: plain!.length,
    gains: boosted.map((those) => pairedBootstrap(those, plain!, createRandom(seed))),
  };
}

/** Clusters runs together with the tools they used; nodes are tool indices. */
function clustersOf(bench: Workbench, train: readonly Task[]): ReadonlyMap<NodeId, number> {
  const uses = train.map((task, i) => {
    const calls = new Map<NodeId, number>();
    for (const tool of sequenceOf(bench, task).map(nodeOf)) calls.set(tool, (calls.get(tool) ?? 0) + 1);
    return { capability: `run ${i}` as NodeId, calls };
  });
  return spectralClusters(uses).of;
}

function isNear(clusters: ReadonlyMap<NodeId, number>, { before }: NextCase, tool: number): number {
  const own = clusters.get(nodeOf(tool));
  return Number(own !== undefined && own === clusters.get(nodeOf(before.at(-1)!)));
}

function nodeOf(place: number): NodeId {
  return `tool ${place}` as NodeId;
}
