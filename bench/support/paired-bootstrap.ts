import type { Random } from '../../src/core/numeric/random.ts';

const DEFAULTS = { resamples: 2_000 };

/** The mean, and the interval that contains it in 95 of 100 resamples. */
export interface Estimate {
  readonly mean: number;
  readonly ci95: readonly [low: number, high: number];
}

/**
 * Percentile bootstrap (Efron & Tibshirani, 1993) of the mean of paired differences. Whole clusters are drawn:
 * the cases of one task are similar, and drawing them one by one would make the interval too narrow.
 */
export function pairedBootstrap(clusters: readonly (readonly number[])[], random: Random): Estimate {
  const sums = clusters.map((differences) => differences.reduce((sum, value) => sum + value, 0));
  const draw = (pick: (i: number) => number) => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < clusters.length; i++) {
      const cluster = pick(i);
      sum += sums[cluster]!;
      count += clusters[cluster]!.length;
    }
    return count === 0 ? 0 : sum / count;
  };
  const means = Float64Array.from({ length: DEFAULTS.resamples }, () =>
    draw(() => random.int(clusters.length)),
  ).sort();
  const at = (share: number) => means[Math.round(share * (means.length - 1))]!;
  return { mean: draw((i) => i), ci95: [at(0.025), at(0.975)] };
}
