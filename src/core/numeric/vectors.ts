/** Of vectors with the same length; for vectors of length 1 it is their cosine. */
export function dot<Vector extends Float32Array | Float64Array>(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** log(p / (1 - p)) of a chance between 0 and 1. */
export function logOdds(chance: number): number {
  return Math.log(chance / (1 - chance));
}

/** Scales a vector to length 1, in place; a vector of length 0 stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale;
  return vector;
}

/** Mean and deviation; a deviation of rounding alone is 0. */
export function momentsOf(values: Float64Array): { mean: number; deviation: number } {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i]! - mean) ** 2;
  const deviation = Math.sqrt(squares / values.length);
  // Rounding alone makes no difference between candidates.
  return { mean, deviation: deviation > 1e-12 * Math.max(1, Math.abs(mean)) ? deviation : 0 };
}

/** The same values with mean 0 and deviation 1; all 0 where they do not differ. */
export function standardised(values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  const mean = copy.reduce((sum, value) => sum + value, 0) / copy.length;
  const variance = copy.reduce((sum, value) => sum + (value - mean) ** 2, 0) / copy.length;
  const scale = variance > 1e-18 ? 1 / Math.sqrt(variance) : 0;
  return copy.map((value) => (value - mean) * scale);
}
