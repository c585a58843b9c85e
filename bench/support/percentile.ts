/** The smallest value that is not exceeded by at least this share of the values (nearest rank); NaN if empty. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;
}
