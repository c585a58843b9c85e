/** log(p / (1 - p)) of a chance between 0 and 1. */
export function logOdds(chance: number): number {
  return Math.log(chance / (1 - chance));
}
