/** Self-attention of one text (Vaswani et al., 2017), every head by itself, in single precision. */
import { softmaxRow } from './elementwise';
import { F32 } from './tile';

/** Numbers per head: eight vectors. */
const HEAD: usize = 32;

/**
 * out[length x heads * 32] = softmax(Q K^T / sqrt 32) V for each head. Query, key and value of a token stand side by
 * side in qkv[length x 3 * heads * 32]; scratch holds 33 numbers for each token, their count rounded up to 4.
 */
export function attend(length: usize, heads: usize, qkv: usize, out: usize, scratch: usize, scale: f32): void {
  const hidden = heads * HEAD * F32;
  const padded = (length + 3) & ~3;
  const keys = scratch;
  const weights = scratch + padded * HEAD * F32;
  for (let head: usize = 0; head < heads; head++) {
    const query = qkv + head * HEAD * F32;
    turn(length, padded, query + hidden, 3 * hidden, keys);
    for (let t: usize = 0; t < length; t++) {
      compare(padded, query + t * 3 * hidden, keys, weights);
      softmaxRow(length, weights, scale);
      gather(length, weights, query + 2 * hidden, 3 * hidden, out + t * hidden + head * HEAD * F32);
    }
  }
}

/** [length x 32] with rows apart -> [32 x padded], 0 where tokens run out. */
function turn(length: usize, padded: usize, from: usize, fromRow: usize, to: usize): void {
  const toRow = padded * F32;
  for (let u: usize = 0; u < padded; u++) {
    for (let i: usize = 0; i < HEAD; i++) {
      store<f32>(to + i * toRow + u * F32, u < length ? load<f32>(from + u * fromRow + i * F32) : <f32>0);
    }
  }
}

/** weights[padded] = query[32] . keys[32 x padded] */
function compare(padded: usize, query: usize, keys: usize, weights: usize): void {
  const row = padded * F32;
  let u: usize = 0;
  for (; u + 16 <= padded; u += 16) {
    let s0 = f32x4.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    let key = keys + u * F32;
    for (let i: usize = 0; i < HEAD; i++, key += row) {
      const q = v128.load32_splat(query + i * F32);
      s0 = f32x4.add(f32x4.mul(q, v128.load(key)), s0);
      s1 = f32x4.add(f32x4.mul(q, v128.load(key, 16)), s1);
      s2 = f32x4.add(f32x4.mul(q, v128.load(key, 32)), s2);
      s3 = f32x4.add(f32x4.mul(q, v128.load(key, 48)), s3);
    }
    v128.store(weights + u * F32, s0);
    v128.store(weights + u * F32, s1, 16);
    v128.store(weights + u * F32, s2, 32);
    v128.store(weights + u * F32, s3, 48);
  }
  for (; u < padded; u += 4) {
    let sum = f32x4.splat(0);
    let key = keys + u * F32;
    for (let i: usize = 0; i < HEAD; i++, key += row) {
      sum = f32x4.add(f32x4.mul(v128.load32_splat(query + i * F32), v128.load(key)), sum);
    }
    v128.store(weights + u * F32, sum);
  }
}

/** out[32] = weights[length] . values[length x 32] */
function gather(length: usize, weights: usize, values: usize, row: usize, out: usize): void {
  let s0 = f32x4.splat(0);
  let s1 = s0;
  let s2 = s0;
  let s3 = s0;
  let s4 = s0;
  let s5 = s0;
  let s6 = s0;
  let s7 = s0;
  for (const end = weights + length * F32; weights < end; weights += F32, values += row) {
    const weight = v128.load32_splat(weights);
    s0 = f32x4.add(f32x4.mul(weight, v128.load(values)), s0);
    s1 = f32x4.add(f32x4.mul(weight, v128.load(values, 16)), s1);
    s2 = f32x4.add(f32x4.mul(weight, v128.load(values, 32)), s2);
    s3 = f32x4.add(f32x4.mul(weight, v128.load(values, 48)), s3);
    s4 = f32x4.add(f32x4.mul(weight, v128.load(values, 64)), s4);
    s5 = f32x4.add(f32x4.mul(weight, v128.load(values, 80)), s5);
    s6 = f32x4.add(f32x4.mul(weight, v128.load(values, 96)), s6);
    s7 = f32x4.add(f32x4.mul(weight, v128.load(values, 112)), s7);
  }
  v128.store(out, s0);
  v128.store(out, s1, 16);
  v128.store(out, s2, 32);
  v128.store(out, s3, 48);
  v128.store(out, s4, 64);
  v128.store(out, s5, 80);
  v128.store(out, s6, 96);
  v128.store(out, s7, 112);
}
