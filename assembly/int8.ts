/**
 * Matrix products with 8-bit weights: W has one scale per row (an output of the layer), the other operand is rounded
 * to 16 bits with one scale per row (a token). Products are summed in 32-bit integers, which is exact, so every
 * machine and every order of summing gives the same result to the last bit.
 *
 * Two neighbouring values of a row are multiplied and added by one instruction (`i32x4.dot_i16x8_s`), hence the
 * layouts: x in groups of five rows, [group][k / 2][5][2] 16-bit numbers; W in strips of eight rows,
 * [strip][k / 2][8][2] bytes. k is a multiple of 4, the rows of W are a multiple of 8.
 */
import { F32 } from './tile';

/** Rows of x in a group. */
const ROWS: usize = 5;
/** Rows of W in a strip. */
const STRIP: usize = 8;
/** Bytes of a pair of 16-bit numbers, one for each row of a group. */
const PAIRS: usize = ROWS * 4;

/**
 * x[rows x columns] -> 16-bit numbers in groups, and scales[rows] with x = scale * number. The greatest value of
 * each row becomes `limit`.
 */
export function quantiseRows(rows: usize, columns: usize, x: usize, limit: f32, out: usize, scales: usize): void {
  const bytes = columns * F32;
  for (let r: usize = 0; r < rows; r++, x += bytes) {
    let most4 = f32x4.splat(0);
    for (let o: usize = 0; o < bytes; o += 16) most4 = f32x4.max(most4, f32x4.abs(v128.load(x + o)));
    const most = max(
      max(f32x4.extract_lane(most4, 0), f32x4.extract_lane(most4, 1)),
      max(f32x4.extract_lane(most4, 2), f32x4.extract_lane(most4, 3)),
    );
    store<f32>(scales + r * F32, most / limit);
    const factor = f32x4.splat(most > 0 ? limit / most : 0);
    let to = out + (r / ROWS) * columns * ROWS * 2 + (r % ROWS) * 4;
    for (let o: usize = 0; o < bytes; o += 16, to += 2 * PAIRS) {
      const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(x + o), factor)));
      const short = i16x8.narrow_i32x4_s(whole, whole);
      v128.store32_lane(to, short, 0);
      v128.store32_lane(to, short, 1, PAIRS);
    }
  }
}

/** W[rows x columns] of bytes -> strips. */
export function packInt8(rows: usize, columns: usize, from: usize, out: usize): void {
  for (let j: usize = 0; j < rows; j += STRIP) {
    for (let p: usize = 0; p < columns; p += 2) {
      for (let c: usize = 0; c < STRIP; c++, out += 2) store<u16>(out, load<u16>(from + (j + c) * columns + p));
    }
  }
}

/** y[m x n] = x W^T + bias, of x as `quantiseRows` and W as `packInt8` wrote them, with the scales of their rows. */
export function gemmInt8(
  m: usize, n: usize, k: usize,
  x: usize, xScales: usize, w: usize, wScales: usize, bias: usize, y: usize,
): void {
  const yRow = n * F32;
  for (let j: usize = 0; j < n; j += STRIP) {
    const strip = w + j * k;
    for (let i: usize = 0; i < m; i += ROWS) {
      const group = x + i * k * 2;
      const to = y + i * yRow + j * F32;
      const left = m - i;
      if (left > 2) tile5(k, group, strip, xScales + i * F32, wScales + j * F32, bias + j * F32, to, yRow, left);
      else tile2(k, group, strip, xScales + i * F32, wScales + j * F32, bias + j * F32, to, yRow, left);
    }
  }
}

@inline
function dot(a: v128, b: v128, sum: v128): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(a, b), sum);
}

/** Eight sums of a row -> floats with scales and bias. */
@inline
function finish(low: v128, high: v128, xScale: usize, wScales: usize, bias: usize, to: usize): void {
  const scale = v128.load32_splat(xScale);
  const first = f32x4.mul(f32x4.convert_i32x4_s(low), f32x4.mul(scale, v128.load(wScales)));
  const second = f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.mul(scale, v128.load(wScales, 16)));
  v128.store(to, f32x4.add(first, v128.load(bias)));
  v128.store(to, f32x4.add(second, v128.load(bias, 16)), 16);
}

/** Five rows of x by a strip, of which `left` are there: with eight sums for each, no register spills. */
function tile5(
  k: usize, x: usize, w: usize, xScales: usize, wScales: usize, bias: usize, to: usize, toRow: usize, left: usize,
): void {
  let s00 = i32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  let s40 = s00;
  let s41 = s00;
  for (const end = w + k * STRIP; w < end; w += 2 * STRIP, x += PAIRS) {
    const w0 = v128.load8x8_s(w);
    const w1 = v128.load8x8_s(w, 8);
    let a = v128.load32_splat(x);
    s00 = dot(a, w0, s00);
    s01 = dot(a, w1, s01);
    a = v128.load32_splat(x, 4);
    s10 = dot(a, w0, s10);
    s11 = dot(a, w1, s11);
    a = v128.load32_splat(x, 8);
    s20 = dot(a, w0, s20);
    s21 = dot(a, w1, s21);
    a = v128.load32_splat(x, 12);
    s30 = dot(a, w0, s30);
    s31 = dot(a, w1, s31);
    a = v128.load32_splat(x, 16);
    s40 = dot(a, w0, s40);
    s41 = dot(a, w1, s41);
  }
  finish(s00, s01, xScales, wScales, bias, to);
  if (left > 1) finish(s10, s11, xScales + F32, wScales, bias, to + toRow);
  if (left > 2) finish(s20, s21, xScales + 2 * F32, wScales, bias, to + 2 * toRow);
  if (left > 3) finish(s30, s31, xScales + 3 * F32, wScales, bias, to + 3 * toRow);
  if (left > 4) finish(s40, s41, xScales + 4 * F32, wScales, bias, to + 4 * toRow);
}

/** The first two of the same: a last group of one or two rows costs less. */
function tile2(
  k: usize, x: usize, w: usize, xScales: usize, wScales: usize, bias: usize, to: usize, toRow: usize, left: usize,
): void {
  let s00 = i32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  for (const end = w + k * STRIP; w < end; w += 2 * STRIP, x += PAIRS) {
    const w0 = v128.load8x8_s(w);
    const w1 = v128.load8x8_s(w, 8);
    let a = v128.load32_splat(x);
    s00 = dot(a, w0, s00);
    s01 = dot(a, w1, s01);
    a = v128.load32_splat(x, 4);
    s10 = dot(a, w0, s10);
    s11 = dot(a, w1, s11);
  }
  finish(s00, s01, xScales, wScales, bias, to);
  if (left > 1) finish(s10, s11, xScales + F32, wScales, bias, to + toRow);
}
