/** Of vectors with the same length; for vectors of length 1 it is their cosine. */
export function dot<Vector extends Float32Array | Float64Array>(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
