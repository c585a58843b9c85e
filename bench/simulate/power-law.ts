/** y = factor · x^exponent, by least squares on the logarithms of both. */
export interface PowerLaw {
  readonly exponent: number;
  at(x: number): number;
}

/** Null for fewer than two different x. */
export function fitPowerLaw(points: readonly (readonly [x: number, y: number])[]): PowerLaw | null {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (of: 0 | 1) => logs.reduce((sum, log) => sum + log[of], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (!(spread > 0)) return null;
  const exponent = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  return { exponent, at: (x) => Math.exp(meanY + exponent * (Math.log(x) - meanX)) };
}
