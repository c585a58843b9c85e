import type { Pointer } from './matrices.ts';

/**
 * What the forward pass of a transformer with 8-bit weights needs, over a memory that is given. Every implementation gives the same numbers, to the
 * last bit. Matrices are row-major float32; sizes and strides count elements, pointers count bytes.
 */
export interface EncoderKernels {
  /**
   * x[rows x columns] -> 16-bit numbers of `quantisedLength(rows, columns)` bytes in groups of five rows, the greatest
   * of each row being `limit`, and scales[rows]; columns are a multiple of 4.
   */
  quantiseRows(rows: number, columns: number, x: Pointer, limit: number, out: Pointer, scales: Pointer): void;
  /** Signed bytes W[rows x columns] in strips of eight rows, for `gemmInt8`; rows are a multiple of 8. */
  packInt8(rows: number, columns: number, from: Pointer, out: Pointer): void;
  /** y[m x n] = x W^T + bias[n], x as `quantiseRows` and W[n x k] as `packInt8` wrote them, with their scales. */
  gemmInt8(
    m: number,
    n: number,
    k: number,
    x: Pointer,
    xScales: Pointer,
    w: Pointer,
    wScales: Pointer,
    bias: Pointer,
    y: Pointer,
  ): void;
  /**
   * out[length x heads * 32] = softmax(scale Q K^T) V for each head of 32 numbers; query, key and value of a token
   * stand side by side in qkv[length x 3 * heads * 32]. `scratch` has room for 33 floats for each token, their count
   * rounded up to 4.
   */
  attend(length: number, heads: number, qkv: Pointer, out: Pointer, scratch: Pointer, scale: number): void;
  /** x[n] += y[n] */
  add(n: number, x: Pointer, y: Pointer): void;
  /** x[n] = x/2 (1 + erf(x / sqrt 2)) */
  gelu(n: number, x: Pointer): void;
  /** x[columns] = softmax(scale * x) */
  softmaxRow(columns: number, x: Pointer, scale: number): void;
  /** Each row of x[rows x columns] = (row - mean) / sqrt(variance + epsilon) * gamma + beta */
  layerNormRows(
    rows: number,
    columns: number,
    x: Pointer,
    gamma: Pointer,
    beta: Pointer,
    epsilon: number,
  ): void;
}

/** Rows per group of a quantised matrix. */
const GROUP = 5;

/** Bytes that `quantiseRows` writes. */
export function quantisedLength(rows: number, columns: number): number {
  return Math.ceil(rows / GROUP) * GROUP * columns * Int16Array.BYTES_PER_ELEMENT;
}

const HEAD = 32;
const STRIP = 8;
const LANES = 4;

const f = Math.fround;

/**
 * The encoder's kernels of `assembly/` one number at a time, for engines without SIMD: every product and sum is
 * rounded and ordered as there, so the results are the same to the last bit.
 */
export class ScalarEncoder implements EncoderKernels {
  readonly #floats: Float32Array;
  readonly #shorts: Int16Array;
  readonly #bytes: Int8Array;

  constructor(memory: ArrayBufferLike) {
    this.#floats = new Float32Array(memory);
    this.#shorts = new Int16Array(memory);
    this.#bytes = new Int8Array(memory);
  }

  quantiseRows(
    rows: number,
    columns: number,
    x: Pointer,
    limit: number,
    out: Pointer,
    scales: Pointer,
  ): void {
    const [floats, shorts] = [this.#floats, this.#shorts];
    for (let r = 0; r < rows; r++) {
      const from = x / 4 + r * columns;
      let most = 0;
      for (let i = 0; i < columns; i++) most = Math.max(most, Math.abs(floats[from + i]!));
      floats[scales / 4 + r] = f(most / limit);
      const factor = most > 0 ? f(limit / most) : 0;
      const group = out / 2 + Math.floor(r / GROUP) * columns * GROUP + (r % GROUP) * 2;
      for (let i = 0; i < columns; i++) {
        shorts[group + (i >> 1) * 2 * GROUP + (i & 1)] = nearest(f(floats[from + i]! * factor));
      }
    }
  }

  packInt8(rows: number, columns: number, from: Pointer, out: Pointer): void {
    let to = out;
    for (let j = 0; j < rows; j += STRIP) {
      for (let p = 0; p < columns; p += 2) {
        for (let c = 0; c < STRIP; c++) {
          this.#bytes[to++] = this.#bytes[from + (j + c) * columns + p]!;
          this.#bytes[to++] = this.#bytes[from + (j + c) * columns + p + 1]!;
        }
      }
    }
  }

  gemmInt8(
    m: number,
    n: number,
    k: number,
    x: Pointer,
    xScales: Pointer,
    w: Pointer,
    wScales: Pointer,
    bias: Pointer,
    y: Pointer,
  ): void {
    const floats = this.#floats;
    for (let i = 0; i < m; i++) {
      const row = x / 2 + Math.floor(i / GROUP) * GROUP * k + (i % GROUP) * 2;
      for (let j = 0; j < n; j++) {
        const sum = this.#dot(k, row, w + Math.floor(j / STRIP) * STRIP * k + (j % STRIP) * 2);
        const scale = f(floats[xScales / 4 + i]! * floats[wScales / 4 + j]!);
        floats[y / 4 + i * n + j] = f(f(f(sum) * scale) + floats[bias / 4 + j]!);
      }
    }
  }

  attend(length: number, heads: number, qkv: Pointer, out: Pointer, scratch: Pointer, scale: number): void {
    const floats = this.#floats;
    const hidden = heads * HEAD;
    const weights = scratch / 4;
    for (let head = 0; head < heads; head++) {
      const query = qkv / 4 + head * HEAD;
      const [key, value] = [query + hidden, query + 2 * hidden];
      for (let t = 0; t < length; t++) {
        const own = query + t * 3 * hidden;
        for (let u = 0; u < length; u++) {
          const other = key + u * 3 * hidden;
          let sum = 0;
          for (let i = 0; i < HEAD; i++) sum = f(f(floats[own + i]! * floats[other + i]!) + sum);
          floats[weights + u] = sum;
        }
        this.softmaxRow(length, scratch, scale);
        const to = out / 4 + t * hidden + head * HEAD;
        for (let i = 0; i < HEAD; i++) {
          let sum = 0;
          for (let u = 0; u < length; u++) {
            sum = f(f(floats[weights + u]! * floats[value + u * 3 * hidden + i]!) + sum);
          }
          floats[to + i] = sum;
        }
      }
    }
  }

  add(n: number, x: Pointer, y: Pointer): void {
    for (let i = 0; i < n; i++) this.#floats[x / 4 + i] = this.#floats[x / 4 + i]! + this.#floats[y / 4 + i]!;
  }

  gelu(n: number, x: Pointer): void {
    for (let i = x / 4; i < x / 4 + n; i++) this.#floats[i] = gelu(this.#floats[i]!);
  }

  softmaxRow(columns: number, x: Pointer, scale: number): void {
    const row = this.#floats.subarray(x / 4, x / 4 + columns);
    const factor = f(scale);
    let highest = Number.NEGATIVE_INFINITY;
    for (const value of row) highest = Math.max(highest, f(value * factor));
    for (let i = 0; i < columns; i++) row[i] = exp(f(f(row[i]! * factor) - highest));
    const inverse = f(1 / sumByLanes(row, (value) => value));
    for (let i = 0; i < columns; i++) row[i] = row[i]! * inverse;
  }

  layerNormRows(
    rows: number,
    columns: number,
    x: Pointer,
    gamma: Pointer,
    beta: Pointer,
    epsilon: number,
  ): void {
    const floats = this.#floats;
    for (let r = 0; r < rows; r++) {
      const row = floats.subarray(x / 4 + r * columns, x / 4 + (r + 1) * columns);
      const mean = f(sumByLanes(row, (value) => value) / columns);
      const squares = sumByLanes(row, (value) => f(f(value - mean) * f(value - mean)));
      const inverse = f(1 / f(Math.sqrt(f(f(squares / columns) + f(epsilon)))));
      for (let i = 0; i < columns; i++) {
        const shifted = f(f(row[i]! - mean) * inverse);
        row[i] = f(f(shifted * floats[gamma / 4 + i]!) + floats[beta / 4 + i]!);
      }
    }
  }

  #dot(k: number, row: number, strip: number): number {
    const [shorts, bytes] = [this.#shorts, this.#bytes];
    let sum = 0;
    for (let p = 0; p < k / 2; p++) {
      const [a, b] = [row + p * 2 * GROUP, strip + p * 2 * STRIP];
      sum = (sum + shorts[a]! * bytes[b]! + shorts[a + 1]! * bytes[b + 1]!) | 0;
    }
    return sum;
  }
}

/** In the order of a vector's four lanes; what fills no vector comes last. */
function sumByLanes(row: Float32Array, term: (value: number) => number): number {
  const lanes = [0, 0, 0, 0];
  const whole = row.length - (row.length % LANES);
  for (let i = 0; i < whole; i++) lanes[i % LANES] = f(lanes[i % LANES]! + term(row[i]!));
  let sum = lanes.reduce((total, lane) => f(total + lane));
  for (let i = whole; i < row.length; i++) sum = f(sum + term(row[i]!));
  return sum;
}

/** Halves go to the even number, as in IEEE 754. */
function nearest(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

function madd(a: number, b: number, c: number): number {
  return f(f(a * b) + c);
}

const LN2_HIGH = f(0.693359375);
const LN2_LOW = f(-2.1219444e-4);
const EXP_TERMS = [1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1].map(f);
const EXP_LAST = f(5.0000001201e-1);

/** `exp4` of assembly/elementwise.ts. */
function exp(x: number): number {
  if (x < f(-87.33654)) return 0;
  const clamped = Math.min(x, f(88.37626));
  const n = nearest(f(clamped * f(Math.LOG2E)));
  const r = madd(n, -LN2_LOW, madd(n, -LN2_HIGH, clamped));
  let y = EXP_TERMS[0]!;
  for (let i = 1; i < EXP_TERMS.length; i++) y = madd(y, r, EXP_TERMS[i]!);
  y = madd(y, r, EXP_LAST);
  return f(madd(y, f(r * r), f(r + 1)) * 2 ** n);
}

const NORMAL_TERMS = [
  0.000005383, 0.0000488906, 0.0000380036, 0.0032776263, 0.0211410061, 0.049867347, 1,
].map(f);

/** `gelu4` of assembly/elementwise.ts. */
function gelu(x: number): number {
  const z = Math.abs(x);
  let y = NORMAL_TERMS[0]!;
  for (let i = 1; i < NORMAL_TERMS.length; i++) y = madd(y, z, NORMAL_TERMS[i]!);
  for (let i = 0; i < 4; i++) y = f(y * y);
  return f(Math.max(x, 0) - f(f(z * 0.5) / y));
}
