/** The ten nearest vectors of a large catalogue: on the wasm kernels, and by a plain loop. */

import { normalise } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import type { BenchReport } from './run.ts';

const ROWS = 5256;
const DIMENSION = 384;
const K = 10;
const WARM_UP = 50;
const ROUNDS = 200;

export async function bench(): Promise<BenchReport> {
  const random = createRandom(1);
  const vector = () => normalise(Float32Array.from({ length: DIMENSION }, () => random.normal()));
  const vectors = Array.from({ length: ROWS }, vector);
  const index = new WasmVectorIndex(DIMENSION);
  for (const [i, each] of vectors.entries()) index.set(`tool-${i}`, each);

  const wasmTimes: number[] = [];
  const plainTimes: number[] = [];
  // Interleaved, so that noise of the machine affects both.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const query = vector();
    const start = performance.now();
    const found = index.nearest(query, K).map(({ id }) => id);
    const middle = performance.now();
    const expected = plainNearest(vectors, query).map(({ row }) => `tool-${row}`);
    const end = performance.now();
    if (found.join() !== expected.join()) throw new Error(`wasm found ${found}, the plain loop ${expected}`);
    if (round < 0) continue;
    wasmTimes.push(middle - start);
    plainTimes.push(end - middle);
  }
  const [wasmMs, plainMs] = [median(wasmTimes), median(plainTimes)];
  const what = `top ${K} of ${ROWS} x ${DIMENSION}`;
  return {
    name: 'top-k',
    rows: [
      { label: `${what}, wasm kernels`, value: wasmMs, unit: 'ms', ratio: plainMs / wasmMs, goal: '> 1x' },
      { label: `${what}, plain loop`, value: plainMs, unit: 'ms' },
    ],
  };
}

/** Computes every dot product in a plain loop; the best ten are in a sorted list, which seldom changes. */
function plainNearest(
  vectors: readonly Float32Array[],
  query: Float32Array,
): { row: number; score: number }[] {
  const best: { row: number; score: number }[] = [];
  for (let row = 0; row < vectors.length; row++) {
    const vector = vectors[row]!;
    let score = 0;
    for (let i = 0; i < DIMENSION; i++) score += vector[i]! * query[i]!;
    if (best.length === K && score <= best[K - 1]!.score) continue;
    const at = best.findIndex((other) => score > other.score);
    best.splice(at === -1 ? best.length : at, 0, { row, score });
    best.length = Math.min(best.length, K);
  }
  return best;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
