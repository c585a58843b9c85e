/**
 * Row-wise and element-wise functions of a transformer's forward pass, four floats at a time. Products are rounded
 * before they are added, also where the machine could fuse the two: so every machine gives the same vectors.
 */

const F32: usize = 4;

/** Below this e^x is subnormal or 0; it is taken as 0. */
const EXP_LOWEST: f32 = -87.33654;
const EXP_HIGHEST: f32 = 88.37626;
const LOG2E: f32 = 1.44269504088896341;
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;

@inline
function madd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}

@inline
function splat(x: f32): v128 {
  return f32x4.splat(x);
}

/** e^x after Cephes' expf: x = n ln 2 + r, a polynomial in r, and n added to the exponent; error about 1 ulp. */
@inline
function exp4(x: v128): v128 {
  const clamped = f32x4.min(x, splat(EXP_HIGHEST));
  const n = f32x4.nearest(f32x4.mul(clamped, splat(LOG2E)));
  const r = madd(n, splat(-LN2_LOW), madd(n, splat(-LN2_HIGH), clamped));
  let y = splat(1.9875691500e-4);
  y = madd(y, r, splat(1.3981999507e-3));
  y = madd(y, r, splat(8.3334519073e-3));
  y = madd(y, r, splat(4.1665795894e-2));
  y = madd(y, r, splat(1.6666665459e-1));
  y = madd(y, r, splat(5.0000001201e-1));
  y = madd(y, f32x4.mul(r, r), f32x4.add(r, splat(1)));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return v128.andnot(f32x4.mul(y, power), f32x4.lt(x, splat(EXP_LOWEST)));
}

/**
 * GELU(x) = x P(x), with the normal distribution P after Abramowitz and Stegun 26.2.19 (absolute error below 1.5e-7):
 * P(-x) = 1 - P(x) = 1/2 (1 + d1 x + ... + d6 x^6)^-16, hence GELU(x) = max(x, 0) - |x| P(-|x|).
 */
@inline
function gelu4(x: v128): v128 {
  const z = f32x4.abs(x);
  let y = splat(0.0000053830);
  y = madd(y, z, splat(0.0000488906));
  y = madd(y, z, splat(0.0000380036));
  y = madd(y, z, splat(0.0032776263));
  y = madd(y, z, splat(0.0211410061));
  y = madd(y, z, splat(0.0498673470));
  y = madd(y, z, splat(1));
  y = f32x4.mul(y, y);
  y = f32x4.mul(y, y);
  y = f32x4.mul(y, y);
  y = f32x4.mul(y, y);
  return f32x4.sub(f32x4.max(x, splat(0)), f32x4.div(f32x4.mul(z, splat(0.5)), y));
}

@inline
function horizontalSum(x: v128): f32 {
  return (
    f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3)
  );
}

@inline
function horizontalMax(x: v128): f32 {
  return max(
    max(f32x4.extract_lane(x, 0), f32x4.extract_lane(x, 1)),
    max(f32x4.extract_lane(x, 2), f32x4.extract_lane(x, 3)),
  );
}

/** x[n] += y[n]. */
export function add(n: usize, x: usize, y: usize): void {
  const whole = x + (n & ~3) * F32;
  const end = x + n * F32;
  for (; x < whole; x += 16, y += 16) v128.store(x, f32x4.add(v128.load(x), v128.load(y)));
  for (; x < end; x += F32, y += F32) store<f32>(x, load<f32>(x) + load<f32>(y));
}

/** x[n] = GELU(x[n]). */
export function gelu(n: usize, x: usize): void {
  const whole = x + (n & ~3) * F32;
  const end = x + n * F32;
  for (; x < whole; x += 16) v128.store(x, gelu4(v128.load(x)));
  for (; x < end; x += F32) store<f32>(x, f32x4.extract_lane(gelu4(v128.load32_splat(x)), 0));
}

/** x[columns] = softmax(scale * x), shifted by its maximum so that nothing overflows. */
export function softmaxRow(columns: usize, x: usize, scale: f32): void {
  const whole = x + (columns & ~3) * F32;
  const end = x + columns * F32;
  let p = x;
  let highest4 = splat(-Infinity);
  for (; p < whole; p += 16) highest4 = f32x4.max(highest4, f32x4.mul(v128.load(p), splat(scale)));
  let highest = horizontalMax(highest4);
  for (; p < end; p += F32) highest = max(highest, load<f32>(p) * scale);

  let sum4 = splat(0);
  for (p = x; p < whole; p += 16) {
    const e = exp4(f32x4.sub(f32x4.mul(v128.load(p), splat(scale)), splat(highest)));
    v128.store(p, e);
    sum4 = f32x4.add(sum4, e);
  }
  let sum = horizontalSum(sum4);
  for (; p < end; p += F32) {
    const e = f32x4.extract_lane(exp4(splat(load<f32>(p) * scale - highest)), 0);
    store<f32>(p, e);
    sum += e;
  }

  const inverse: f32 = 1 / sum;
  for (p = x; p < whole; p += 16) v128.store(p, f32x4.mul(v128.load(p), splat(inverse)));
  for (; p < end; p += F32) store<f32>(p, load<f32>(p) * inverse);
}

/** Each row of x[rows x columns] = (row - mean) / sqrt(variance + epsilon) * gamma + beta (Ba et al., 2016). */
export function layerNormRows(
  rows: usize, columns: usize, x: usize, gamma: usize, beta: usize, epsilon: f32,
): void {
  for (let i: usize = 0; i < rows; i++) layerNormRow(columns, x + i * columns * F32, gamma, beta, epsilon);
}

function layerNormRow(columns: usize, x: usize, gamma: usize, beta: usize, epsilon: f32): void {
  const whole = (columns & ~3) * F32;
  const end = columns * F32;
  let o: usize = 0;
  let sum4 = splat(0);
  for (; o < whole; o += 16) sum4 = f32x4.add(sum4, v128.load(x + o));
  let sum = horizontalSum(sum4);
  for (; o < end; o += F32) sum += load<f32>(x + o);
  const mean = sum / <f32>columns;

  let squares4 = splat(0);
  for (o = 0; o < whole; o += 16) {
    const d = f32x4.sub(v128.load(x + o), splat(mean));
    squares4 = madd(d, d, squares4);
  }
  let squares = horizontalSum(squares4);
  for (; o < end; o += F32) {
    const d = load<f32>(x + o) - mean;
    squares += d * d;
  }

  const inverse: f32 = 1 / sqrt<f32>(squares / <f32>columns + epsilon);
  for (o = 0; o < whole; o += 16) {
    const d = f32x4.mul(f32x4.sub(v128.load(x + o), splat(mean)), splat(inverse));
    v128.store(x + o, madd(d, v128.load(gamma + o), v128.load(beta + o)));
  }
  for (; o < end; o += F32) {
    const d = (load<f32>(x + o) - mean) * inverse;
    store<f32>(x + o, d * load<f32>(gamma + o) + load<f32>(beta + o));
  }
}
