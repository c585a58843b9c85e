/**
 * The forward pass of all-MiniLM-L6-v2 in carefully written plain JavaScript: flat Float32Arrays, matrix products in
 * tiles that stay in registers.
 */
import { normalise } from '../../src/core/numeric/matrices.ts';

const LAYERS = 6;
const HIDDEN = 384;
const HEADS = 12;
const HEAD_SIZE = 32;
const EPSILON = 1e-12;

interface Dense {
  /** [outputs x inputs], so that sums run over contiguous memory. */
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

interface Norm {
  readonly gamma: Float32Array;
  readonly beta: Float32Array;
}

/** `tensorOf` gives a tensor of the model as floats, weights as [outputs x inputs]. */
export function createPlainMiniLm(
  tensorOf: (name: string) => Float32Array,
): (tokens: readonly number[]) => Float32Array {
  const dense = (path: string): Dense => ({
    weight: tensorOf(`${path}.weight`),
    bias: tensorOf(`${path}.bias`),
  });
  const norm = (path: string): Norm => ({
    gamma: tensorOf(`${path}.weight`),
    beta: tensorOf(`${path}.bias`),
  });
  const [words, positions] = [tensorOf('we.weight'), tensorOf('pe.weight')];
  const embeddingNorm = norm('ne');
  const layers = Array.from({ length: LAYERS }, (_, i) => ({
    queryKeyValue: dense(`layers.${i}.qkv`),
    attentionOutput: dense(`layers.${i}.ao`),
    attentionNorm: norm(`layers.${i}.n1`),
    intermediate: dense(`layers.${i}.i`),
    output: dense(`layers.${i}.o`),
    outputNorm: norm(`layers.${i}.n2`),
  }));

  return (tokens) => {
    const rows = tokens.length;
    const states = new Float32Array(rows * HIDDEN);
    for (let t = 0; t < rows; t++) {
      for (let i = 0; i < HIDDEN; i++) {
        states[t * HIDDEN + i] = words[tokens[t]! * HIDDEN + i]! + positions[t * HIDDEN + i]!;
      }
    }
    layerNorm(states, rows, embeddingNorm);
    for (const layer of layers) {
      const gathered = attention(rows, apply(layer.queryKeyValue, states, rows));
      addInto(states, apply(layer.attentionOutput, gathered, rows));
      layerNorm(states, rows, layer.attentionNorm);
      const wide = apply(layer.intermediate, states, rows);
      gelu(wide);
      addInto(states, apply(layer.output, wide, rows));
      layerNorm(states, rows, layer.outputNorm);
    }
    const mean = new Float32Array(HIDDEN);
    for (let t = 0; t < rows; t++) for (let i = 0; i < HIDDEN; i++) mean[i]! += states[t * HIDDEN + i]!;
    return normalise(mean);
  };
}

/** x[rows x inputs] W + b, in tiles of 4 x 4 whose sums stay in local variables. */
function apply({ weight, bias }: Dense, x: Float32Array, rows: number): Float32Array {
  const outputs = bias.length;
  const inputs = weight.length / outputs;
  const y = new Float32Array(rows * outputs);
  let r = 0;
  for (; r + 4 <= rows; r += 4) {
    for (let j = 0; j < outputs; j += 4) applyTile(weight, bias, x, y, inputs, outputs, r, j);
  }
  for (; r < rows; r++) {
    for (let j = 0; j < outputs; j++) {
      let sum = bias[j]!;
      for (let p = 0; p < inputs; p++) sum += x[r * inputs + p]! * weight[j * inputs + p]!;
      y[r * outputs + j] = sum;
    }
  }
  return y;
}

function applyTile(
  weight: Float32Array,
  bias: Float32Array,
  x: Float32Array,
  y: Float32Array,
  inputs: number,
  outputs: number,
  r: number,
  j: number,
): void {
  let [s00, s01, s02, s03] = [0, 0, 0, 0];
  let [s10, s11, s12, s13] = [0, 0, 0, 0];
  let [s20, s21, s22, s23] = [0, 0, 0, 0];
  let [s30, s31, s32, s33] = [0, 0, 0, 0];
  const [x0, x1, x2, x3] = [r * inputs, (r + 1) * inputs, (r + 2) * inputs, (r + 3) * inputs];
  const [j0, j1, j2, j3] = [j * inputs, (j + 1) * inputs, (j + 2) * inputs, (j + 3) * inputs];
  for (let p = 0; p < inputs; p++) {
    const w0 = weight[j0 + p]!;
    const w1 = weight[j1 + p]!;
    const w2 = weight[j2 + p]!;
    const w3 = weight[j3 + p]!;
    const a = x[x0 + p]!;
    s00 += a * w0;
    s01 += a * w1;
    s02 += a * w2;
    s03 += a * w3;
    const b = x[x1 + p]!;
    s10 += b * w0;
    s11 += b * w1;
    s12 += b * w2;
    s13 += b * w3;
    const c = x[x2 + p]!;
    s20 += c * w0;
    s21 += c * w1;
    s22 += c * w2;
    s23 += c * w3;
    const d = x[x3 + p]!;
    s30 += d * w0;
    s31 += d * w1;
    s32 += d * w2;
    s33 += d * w3;
  }
  const sums = [s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33];
  for (let i = 0; i < 16; i++) {
    const column = j + (i % 4);
    y[(r + (i >> 2)) * outputs + column] = sums[i]! + bias[column]!;
  }
}

/** softmax(Q K^T / sqrt(head size)) V, head by head. */
function attention(rows: number, qkv: Float32Array): Float32Array {
  const out = new Float32Array(rows * HIDDEN);
  const weights = new Float32Array(rows);
  const scale = 1 / Math.sqrt(HEAD_SIZE);
  for (let head = 0; head < HEADS; head++) {
    const first = head * HEAD_SIZE;
    for (let t = 0; t < rows; t++) {
      let highest = Number.NEGATIVE_INFINITY;
      for (let u = 0; u < rows; u++) {
        let sum = 0;
        for (let i = 0; i < HEAD_SIZE; i++) {
          sum += qkv[t * 3 * HIDDEN + first + i]! * qkv[(u * 3 + 1) * HIDDEN + first + i]!;
        }
        weights[u] = sum * scale;
        highest = Math.max(highest, sum * scale);
      }
      let total = 0;
      for (let u = 0; u < rows; u++) {
        weights[u] = Math.exp(weights[u]! - highest);
        total += weights[u]!;
      }
      for (let u = 0; u < rows; u++) {
        const share = weights[u]! / total;
        for (let i = 0; i < HEAD_SIZE; i++) {
          out[t * HIDDEN + first + i]! += share * qkv[(u * 3 + 2) * HIDDEN + first + i]!;
        }
      }
    }
  }
  return out;
}

function layerNorm(x: Float32Array, rows: number, { gamma, beta }: Norm): void {
  for (let r = 0; r < rows; r++) {
    const at = r * HIDDEN;
    let mean = 0;
    for (let i = 0; i < HIDDEN; i++) mean += x[at + i]!;
    mean /= HIDDEN;
    let variance = 0;
    for (let i = 0; i < HIDDEN; i++) variance += (x[at + i]! - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / HIDDEN + EPSILON);
    for (let i = 0; i < HIDDEN; i++) x[at + i] = (x[at + i]! - mean) * scale * gamma[i]! + beta[i]!;
  }
}

/** x/2 (1 + erf(x / sqrt 2)), with erf after Abramowitz and Stegun 7.1.26. */
function gelu(x: Float32Array): void {
  for (let i = 0; i < x.length; i++) {
    const z = Math.abs(x[i]!) * Math.SQRT1_2;
    const t = 1 / (1 + 0.3275911 * z);
    const series =
      ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    const erf = Math.sign(x[i]!) * (1 - series * Math.exp(-z * z));
    x[i] = 0.5 * x[i]! * (1 + erf);
  }
}

function addInto(x: Float32Array, y: Float32Array): void {
  for (let i = 0; i < x.length; i++) x[i]! += y[i]!;
}
