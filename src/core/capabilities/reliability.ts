/** Two-sided 95 %. */
const Z = 1.959963984540054;

/**
 * Lower bound of the success rate that so many trials support (Wilson, "Probable inference, the law
 * of succession, and statistical inference", 1927): 1 of 1 says less than 90 of 100.
 */
export function wilsonLowerBound(successes: number, trials: number): number {
  if (trials === 0) return 0;
  const rate = successes / trials;
  const spread = (Z * Z) / trials;
  const centre = rate + spread / 2;
  const margin = Z * Math.sqrt((rate * (1 - rate) + spread / 4) / trials);
  return Math.max(0, (centre - margin) / (1 + spread));
}
