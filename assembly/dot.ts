import { fma } from './tile';

/**
 * out[i] = matrix[i] . query for each row of matrix[rows x columns].
 * Every row is summed in the same order, so equal rows get equal scores.
 */
export function dotRows(rows: usize, columns: usize, matrix: usize, query: usize, out: usize): void {
  const unrolled = query + (columns & ~15) * 4;
  const whole = query + (columns & ~3) * 4;
  const end = query + columns * 4;
  for (const last = out + rows * 4; out < last; out += 4) {
    let s0 = f32x4.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    let q = query;
    for (; q < unrolled; q += 64, matrix += 64) {
      s0 = fma(v128.load(matrix), v128.load(q), s0);
      s1 = fma(v128.load(matrix, 16), v128.load(q, 16), s1);
      s2 = fma(v128.load(matrix, 32), v128.load(q, 32), s2);
      s3 = fma(v128.load(matrix, 48), v128.load(q, 48), s3);
    }
    for (; q < whole; q += 16, matrix += 16) {
      s0 = fma(v128.load(matrix), v128.load(q), s0);
    }
    const s = f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3));
    let sum =
      f32x4.extract_lane(s, 0) + f32x4.extract_lane(s, 1) + f32x4.extract_lane(s, 2) + f32x4.extract_lane(s, 3);
    for (; q < end; q += 4, matrix += 4) sum += load<f32>(matrix) * load<f32>(q);
    store<f32>(out, sum);
  }
}
