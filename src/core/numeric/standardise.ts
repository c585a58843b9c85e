/** The same values with mean 0 and deviation 1; all 0 where they do not differ. */
export function standardised(values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  const mean = copy.reduce((sum, value) => sum + value, 0) / copy.length;
  const variance = copy.reduce((sum, value) => sum + (value - mean) ** 2, 0) / copy.length;
  const scale = variance > 1e-18 ? 1 / Math.sqrt(variance) : 0;
  return copy.map((value) => (value - mean) * scale);
}
