import type { Random } from '../../numeric/random.ts';

const DEFAULTS = {
  resamples: 1000,
};

export interface PairedGain {
  /** Mean of `a - b`. */
  readonly gain: number;
  /** 95 %, two-sided: the 2.5th and the 97.5th percentile of the resampled means. */
  readonly ci95: readonly [number, number];
}

interface BootstrapOptions {
  /** The group of each query, in the same order; if absent, each query is its own group. */
  readonly groups?: readonly (string | number)[];
  readonly resamples?: number;
}

/**
 * How much better `a` is than `b` on the same queries: the paired bootstrap (Efron & Tibshirani, "An
 * Introduction to the Bootstrap", 1993; for ranking Sakai, SIGIR 2006). Queries are drawn with replacement, both
 * sides together, so that the difficulty of a query cancels out; queries of one group are drawn together, because
 * the same work in other words adds no evidence (cluster bootstrap: Field & Welsh, 2007). 0 without pairs.
 */
export function pairedBootstrap(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  random: Random,
  { groups, resamples = DEFAULTS.resamples }: BootstrapOptions = {},
): PairedGain {
  const n = a.length;
  if (n === 0) return { gain: 0, ci95: [0, 0] };
  const differences = Float64Array.from(a, (value, i) => value - b[i]!);
  const clusters = clustersOf(differences, groups);
  const means = new Float64Array(resamples);
  for (let round = 0; round < resamples; round++) {
    let sum = 0;
    let size = 0;
    for (let draw = 0; draw < clusters.length; draw++) {
      const cluster = clusters[random.int(clusters.length)]!;
      sum += cluster.sum;
      size += cluster.size;
    }
    means[round] = sum / size;
  }
  means.sort();
  const at = (share: number) => means[Math.round(share * (resamples - 1))]!;
  return {
    gain: differences.reduce((sum, difference) => sum + difference, 0) / n,
    ci95: [at(0.025), at(0.975)],
  };
}

function clustersOf(differences: Float64Array, groups: BootstrapOptions['groups']) {
  const byGroup = new Map<string | number, { sum: number; size: number }>();
  for (const [i, difference] of differences.entries()) {
    const group = groups?.[i] ?? i;
    const known = byGroup.get(group) ?? { sum: 0, size: 0 };
    byGroup.set(group, { sum: known.sum + difference, size: known.size + 1 });
  }
  return [...byGroup.values()];
}
