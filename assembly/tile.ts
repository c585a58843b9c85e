/** Rows of C per tile. */
export const MR: usize = 6;
/** Columns of C per tile: two vectors. */
export const NR: usize = 8;
/** Bytes of a float. */
export const F32: usize = 4;

/** a * b + c, in one step where the engine has relaxed SIMD. */
@inline
export function fma(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** c[6 x 8] (+)= a[depth][6] x b[depth][8]; cRow in bytes. */
export function micro(depth: usize, a: usize, b: usize, c: usize, cRow: usize, accumulate: bool): void {
  const c1 = c + cRow;
  const c2 = c1 + cRow;
  const c3 = c2 + cRow;
  const c4 = c3 + cRow;
  const c5 = c4 + cRow;
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  let s40 = s00;
  let s41 = s00;
  let s50 = s00;
  let s51 = s00;
  if (accumulate) {
    s00 = v128.load(c);
    s01 = v128.load(c, 16);
    s10 = v128.load(c1);
    s11 = v128.load(c1, 16);
    s20 = v128.load(c2);
    s21 = v128.load(c2, 16);
    s30 = v128.load(c3);
    s31 = v128.load(c3, 16);
    s40 = v128.load(c4);
    s41 = v128.load(c4, 16);
    s50 = v128.load(c5);
    s51 = v128.load(c5, 16);
  }
  for (const end = b + depth * NR * F32; b < end; b += NR * F32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(a);
    s00 = fma(x, b0, s00);
    s01 = fma(x, b1, s01);
    x = v128.load32_splat(a, 4);
    s10 = fma(x, b0, s10);
    s11 = fma(x, b1, s11);
    x = v128.load32_splat(a, 8);
    s20 = fma(x, b0, s20);
    s21 = fma(x, b1, s21);
    x = v128.load32_splat(a, 12);
    s30 = fma(x, b0, s30);
    s31 = fma(x, b1, s31);
    x = v128.load32_splat(a, 16);
    s40 = fma(x, b0, s40);
    s41 = fma(x, b1, s41);
    x = v128.load32_splat(a, 20);
    s50 = fma(x, b0, s50);
    s51 = fma(x, b1, s51);
    a += MR * F32;
  }
  v128.store(c, s00);
  v128.store(c, s01, 16);
  v128.store(c1, s10);
  v128.store(c1, s11, 16);
  v128.store(c2, s20);
  v128.store(c2, s21, 16);
  v128.store(c3, s30);
  v128.store(c3, s31, 16);
  v128.store(c4, s40);
  v128.store(c4, s41, 16);
  v128.store(c5, s50);
  v128.store(c5, s51, 16);
}

/** The first four rows of the same: a last tile of up to four rows costs a third less. */
export function micro4(depth: usize, a: usize, b: usize, c: usize, cRow: usize, accumulate: bool): void {
  const c1 = c + cRow;
  const c2 = c1 + cRow;
  const c3 = c2 + cRow;
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  if (accumulate) {
    s00 = v128.load(c);
    s01 = v128.load(c, 16);
    s10 = v128.load(c1);
    s11 = v128.load(c1, 16);
    s20 = v128.load(c2);
    s21 = v128.load(c2, 16);
    s30 = v128.load(c3);
    s31 = v128.load(c3, 16);
  }
  for (const end = b + depth * NR * F32; b < end; b += NR * F32) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(a);
    s00 = fma(x, b0, s00);
    s01 = fma(x, b1, s01);
    x = v128.load32_splat(a, 4);
    s10 = fma(x, b0, s10);
    s11 = fma(x, b1, s11);
    x = v128.load32_splat(a, 8);
    s20 = fma(x, b0, s20);
    s21 = fma(x, b1, s21);
    x = v128.load32_splat(a, 12);
    s30 = fma(x, b0, s30);
    s31 = fma(x, b1, s31);
    a += MR * F32;
  }
  v128.store(c, s00);
  v128.store(c, s01, 16);
  v128.store(c1, s10);
  v128.store(c1, s11, 16);
  v128.store(c2, s20);
  v128.store(c2, s21, 16);
  v128.store(c3, s30);
  v128.store(c3, s31, 16);
}
