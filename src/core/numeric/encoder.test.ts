import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { bestEncoder, createEncoder, type EncoderPath, encoderMemory } from './encoder.ts';
import { Arena } from './matrices.ts';
import { createRandom } from './random.ts';
import { quantisedLength } from './scalar-encoder.ts';

const BYTES = 4_000_000;
const PATHS: readonly EncoderPath[] = ['simd', 'scalar'];

/** One path with a memory of its own. */
function openPath(path: EncoderPath) {
  const memory = encoderMemory(BYTES, path);
  const arena = new Arena(memory, 0);
  return { run: createEncoder(memory, path), arena };
}

const opened = { simd: openPath('simd'), scalar: openPath('scalar') };

function normalNumbers(count: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: count }, () => random.normal());
}

type Kernel = (run: (typeof opened)['simd']['run'], x: number, arena: Arena) => void;

/** What a kernel makes of x on this path. */
function applied(path: EncoderPath, x: ArrayLike<number>, kernel: Kernel): number[] {
  const { run, arena } = opened[path];
  const mark = arena.mark();
  const pointer = arena.put(x);
  kernel(run, pointer, arena);
  const out = [...arena.view(pointer, x.length)];
  arena.release(mark);
  return out;
}

/** The result of both paths, which must be the same to the last bit. */
function result(x: ArrayLike<number>, kernel: Kernel): number[] {
  const [simd, scalar] = PATHS.map((path) => applied(path, x, kernel));
  expect(scalar).toEqual(simd);
  return simd!;
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, value] of actual.entries()) expect(Math.abs(value - expected[i]!)).toBeLessThan(tolerance);
}

test('[NUM-9] this engine runs the SIMD path', () => {
  expect(bestEncoder()).toBe('simd');
});

describe('products with 8-bit weights', () => {
  const shape = {
    m: fc.integer({ min: 1, max: 17 }),
    n: fc.integer({ min: 1, max: 5 }).map((strips) => strips * 8),
    k: fc.integer({ min: 1, max: 24 }).map((quarters) => quarters * 4),
    seed: fc.nat(),
  };
  /** [m x n], computed on one path. */
  const product = (path: EncoderPath, m: number, n: number, k: number, x: Float32Array, w: Int8Array) => {
    const { run, arena } = opened[path];
    const mark = arena.mark();
    const [from, scales] = [arena.put(x), arena.floats(m)];
    const [plain, packed] = [arena.bytes(n * k), arena.bytes(n * k)];
    arena.viewBytes(plain, n * k).set(new Uint8Array(w.buffer));
    const rounded = arena.bytes(quantisedLength(m, k));
    const wScales = arena.put(Float32Array.from({ length: n }, (_, j) => 0.01 * (j + 1)));
    const bias = arena.put(Float32Array.from({ length: n }, (_, j) => j - 2));
    const out = arena.floats(m * n);
    run.quantiseRows(m, k, from, 11_000, rounded, scales);
    run.packInt8(n, k, plain, packed);
    run.gemmInt8(m, n, k, rounded, scales, packed, wScales, bias, out);
    const values = [...arena.view(out, m * n)];
    arena.release(mark);
    return values;
  };

  test('[NUM-9] agree with plain loops within the rounding to 16 bits, on both paths alike', () => {
    fc.assert(
      fc.property(fc.record(shape), ({ m, n, k, seed }) => {
        const x = normalNumbers(m * k, seed);
        const random = createRandom(seed + 1);
        const w = Int8Array.from({ length: n * k }, () => random.int(255) - 127);
        const simd = product('simd', m, n, k, x, w);
        expect(product('scalar', m, n, k, x, w)).toEqual(simd);
        for (let i = 0; i < m; i++) {
          const row = x.subarray(i * k, (i + 1) * k);
          const step = Math.max(...row.map(Math.abs)) / 11_000;
          for (let j = 0; j < n; j++) {
            const scale = 0.01 * (j + 1);
            const exact = row.reduce((sum, value, p) => sum + value * w[j * k + p]! * scale, j - 2);
            expect(Math.abs(simd[i * n + j]! - exact)).toBeLessThan(k * 127 * scale * step + 1e-3);
          }
        }
      }),
      { numRuns: proofRuns(150), seed: proofSeed() },
    );
  });

  test('[NUM-9] a row of zeros gives the bias, and the greatest sums stay exact', () => {
    const k = 1536;
    const w = new Int8Array(8 * k).fill(-127);
    expect(product('simd', 1, 8, k, new Float32Array(k), w)).toEqual([-2, -1, 0, 1, 2, 3, 4, 5]);
    const [first] = product('simd', 1, 8, k, new Float32Array(k).fill(2), w);
    expect(first! / (-2 + 2 * -127 * 0.01 * k)).toBeCloseTo(1, 5);
  });
});

describe('attention', () => {
  test('[NUM-9] agrees with its formula for every length, on both paths alike', () => {
    const [heads, size] = [2, 32];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (length, seed) => {
        const qkv = normalNumbers(length * 3 * heads * size, seed);
        const on = (path: EncoderPath) => {
          const { run, arena } = opened[path];
          const mark = arena.mark();
          const [from, out] = [arena.put(qkv), arena.floats(length * heads * size)];
          run.attend(length, heads, from, out, arena.floats((length + 3) * (size + 1)), 0.2);
          const values = [...arena.view(out, length * heads * size)];
          arena.release(mark);
          return values;
        };
        const simd = on('simd');
        expect(on('scalar')).toEqual(simd);
        const at = (token: number, part: number, head: number, i: number) =>
          qkv[token * 3 * heads * size + (part * heads + head) * size + i]!;
        const [t, head] = [length - 1, 1];
        const powers = Array.from({ length }, (_, u) => {
          let sum = 0;
          for (let i = 0; i < size; i++) sum += at(t, 0, head, i) * at(u, 1, head, i);
          return Math.exp(0.2 * sum);
        });
        const total = powers.reduce((sum, power) => sum + power, 0);
        const expected = Array.from({ length: size }, (_, i) =>
          powers.reduce((sum, power, u) => sum + (power / total) * at(u, 2, head, i), 0),
        );
        const first = t * heads * size + head * size;
        expectClose(simd.slice(first, first + size), expected, 1e-5);
      }),
      { numRuns: proofRuns(60), seed: proofSeed() },
    );
  });
});

describe('element-wise and row-wise functions, the same on both paths', () => {
  test('[NUM-4] sums, for sizes that do not fill a vector', () => {
    const sum = result([1, 2, 3, 4, 5], (run, x, arena) => run.add(5, x, arena.put([5, 4, 3, 2, 1])));
    expect(sum).toEqual([6, 6, 6, 6, 6]);
  });

  test('[NUM-4] GELU has the values of the normal distribution', () => {
    // x Phi(x), with Phi from tables of the normal distribution.
    const known = [
      [0, 0],
      [1, 0.841344746],
      [-1, -0.158655254],
      [0.5, 0.345731231],
      [-2, -0.045500264],
      [3, 2.995950307],
      [-20, 0],
      [20, 20],
      [1e30, 1e30],
    ] as const;
    const out = result(
      known.map(([x]) => x),
      (run, x) => run.gelu(known.length, x),
    );
    for (const [i, [x, y]] of known.entries()) {
      expect(Math.abs(out[i]! - y)).toBeLessThan(2e-6 * Math.max(1, Math.abs(x)));
    }
  });

  test('[NUM-4] softmax agrees with its formula for every width', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), (columns, seed) => {
        const values = normalNumbers(columns, seed).map((value) => value * 5);
        const powers = [...values].map((value) => Math.exp(0.7 * value));
        const sum = powers.reduce((total, power) => total + power, 0);
        expectClose(
          result(values, (run, x) => run.softmaxRow(columns, x, 0.7)),
          powers.map((power) => power / sum),
          1e-6,
        );
      }),
      { numRuns: proofRuns(200), seed: proofSeed() },
    );
  });

  test.each([
    ['huge values', [1e30, 1e30, -1e30], [0.5, 0.5, 0]],
    ['huge gaps', [-1000, 0, -1000, -1000, -1000], [0, 1, 0, 0, 0]],
    [
      'masked places',
      [Number.NEGATIVE_INFINITY, 2, 2, Number.NEGATIVE_INFINITY, 2],
      [0, 1 / 3, 1 / 3, 0, 1 / 3],
    ],
    ['one place', [123], [1]],
  ])('[NUM-4] softmax of %s neither overflows nor vanishes', (_, values, expected) => {
    expectClose(
      result(values, (run, x) => run.softmaxRow(values.length, x, 1)),
      expected,
      1e-6,
    );
  });

  test('[NUM-4] softmax does not hide a NaN', () => {
    for (const at of [0, 4]) {
      const values = [1, 2, 3, 4, 5].map((value, i) => (i === at ? Number.NaN : value));
      expect(applied('simd', values, (run, x) => run.softmaxRow(5, x, 1)).some(Number.isNaN)).toBe(true);
    }
  });

  test('[NUM-4] layer normalisation agrees with its formula for every width', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), (columns, seed) => {
        const values = normalNumbers(2 * columns, seed).map((value) => value * 3 + 10);
        const gamma = normalNumbers(columns, seed + 1);
        const beta = normalNumbers(columns, seed + 2);
        const epsilon = 1e-3;
        const expected = [0, 1].flatMap((i) => {
          const row = [...values.subarray(i * columns, (i + 1) * columns)];
          const mean = row.reduce((sum, value) => sum + value, 0) / columns;
          const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns;
          return row.map(
            (value, j) => ((value - mean) / Math.sqrt(variance + epsilon)) * gamma[j]! + beta[j]!,
          );
        });
        expectClose(
          result(values, (run, x, arena) =>
            run.layerNormRows(2, columns, x, arena.put(gamma), arena.put(beta), epsilon),
          ),
          expected,
          1e-3,
        );
      }),
      { numRuns: proofRuns(200), seed: proofSeed() },
    );
  });
});
