/** Two-sided 95 %. */
const Z = 1.959963984540054;

/**
 * Lower bound of the success rate that so many trials support (Wilson, "Probable inference, the law
 * of succession, and statistical inference", 1927): 1 of 1 says less than 90 of 100.
 */
export function wilsonLowerBound(successes: number, trials: number): number {
  return trials === 0 ? 0 : Math.max(0, wilsonBound(successes, trials, -1));
}

/** The upper bound of the same interval: below it nothing is shown to lie. */
export function wilsonUpperBound(successes: number, trials: number): number {
  return trials === 0 ? 1 : Math.min(1, wilsonBound(successes, trials, 1));
}

/** Mean of the success rate given its uses, with a prior of three successes in four. */
export function reliabilityOf({ successes, uses }: { successes: number; uses: number }): number {
  return (successes + 3) / (uses + 4);
}

function wilsonBound(successes: number, trials: number, side: -1 | 1): number {
  const rate = successes / trials;
  const spread = (Z * Z) / trials;
  const centre = rate + spread / 2;
  const margin = Z * Math.sqrt((rate * (1 - rate) + spread / 4) / trials);
  return (centre + side * margin) / (1 + spread);
}
