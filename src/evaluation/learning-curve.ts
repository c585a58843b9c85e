import { mean, pairedBootstrap, ranksOf } from '../core/learning/gate/metrics.ts';
import { createRandom } from '../core/numeric/random.ts';
import type { CurvePoint } from '../core/vocabulary/evaluation-report.ts';
import type { Fold } from './folds.ts';
import type { School } from './rank-by-model.ts';

const DEFAULTS = {
  /** Numbers of past runs; the last point is all there are. */
  sizes: [0, 30, 100, 300, 1000],
};

/** 1 / rank of the first right tool of every measured task, in the order of the folds. */
export type ReciprocalRanks = readonly number[];

export interface CurveOptions {
  /** How many random samples of runs each point is trained on; figures are means over these. */
  readonly draws: number;
  readonly onProgress?: ((what: string, done?: number, total?: number) => void) | undefined;
}

/** Search that has not learned is the same at every point; the ranker is trained on more and more runs. */
export function learningCurve(
  schoolOf: (seed: number) => School,
  folds: readonly Fold[],
  search: { readonly semantic: ReciprocalRanks; readonly hybrid: ReciprocalRanks },
  seed: number,
  { draws, onProgress }: CurveOptions,
): CurvePoint[] {
  const most = Math.max(...folds.map(({ train }) => train.length));
  const sizes = [...DEFAULTS.sizes.filter((size) => size < most), most];
  return sizes.map((size, i) => {
    const rounds = Array.from({ length: draws }, (_, draw) => {
      onProgress?.('learning curve', i * draws + draw, sizes.length * draws);
      return reciprocalRanks(schoolOf(seed + draw), folds, size, seed + draw);
    });
    // One value per task: further samples of runs are not further tasks.
    const learned = rounds[0]!.map((_, task) => mean(rounds.map((round) => round[task]!)));
    const groups = folds.flatMap(({ test }) => test.map(({ group }) => group));
    return {
      traces: size,
      semantic_mrr: mean(search.semantic),
      hybrid_mrr: mean(search.hybrid),
      learned_mrr: mean(learned),
      over_semantic: pairedBootstrap(learned, search.semantic, createRandom(seed), { groups }),
      over_hybrid: pairedBootstrap(learned, search.hybrid, createRandom(seed), { groups }),
    };
  });
}

function reciprocalRanks(
  { bench, logitsFor }: School,
  folds: readonly Fold[],
  size: number,
  seed: number,
): number[] {
  return folds.flatMap(({ train, test }) => {
    const drawn = createRandom(seed).shuffle([...train]);
    const seen = size >= train.length ? train : drawn.slice(0, size);
    return test.map((task) => 1 / Math.min(...ranksOf(logitsFor(seen, task), bench.goldOf(task))));
  });
}
