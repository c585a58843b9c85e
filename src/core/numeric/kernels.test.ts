import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { Kernels, packedLength } from './kernels.ts';
import { createRandom } from './random.ts';

const kernels = new Kernels();
const { run, arena } = kernels;

/** Runs with memory that is given back afterwards. */
function scoped<T>(use: () => T): T {
  const mark = arena.mark();
  try {
    return use();
  } finally {
    arena.release(mark);
  }
}

/** Small whole numbers: their products and sums are exact in float32, so results can be compared exactly. */
function wholeNumbers(count: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: count }, () => random.int(17) - 8);
}

function normalNumbers(count: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: count }, () => random.normal());
}

/** Element (i, j) is values[i * row + j * column]. */
interface Matrix {
  readonly values: Float32Array;
  readonly row: number;
  readonly column: number;
}

const rows = (values: Float32Array, width: number): Matrix => ({ values, row: width, column: 1 });
const turned = ({ values, row, column }: Matrix): Matrix => ({ values, row: column, column: row });

/** start + A[m x k] B[k x n], by three plain loops. */
function product(m: number, n: number, k: number, a: Matrix, b: Matrix, start?: Float32Array): Float32Array {
  const c = start?.slice() ?? new Float32Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = c[i * n + j]!;
      for (let p = 0; p < k; p++) {
        sum += a.values[i * a.row + p * a.column]! * b.values[p * b.row + j * b.column]!;
      }
      c[i * n + j] = sum;
    }
  }
  return c;
}

describe('matrix products', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(143, 144, 145, 150));
  const depth = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(383, 384, 385, 770));
  const shape = { m: size, n: size, k: depth, seed: fc.nat(), accumulate: fc.constantFrom(0, 1) };

  test('[NUM-2] plain and transposed operands agree with three plain loops, for every shape', () => {
    fc.assert(
      fc.property(fc.record(shape), ({ m, n, k, seed, accumulate }) =>
        scoped(() => {
          const a = wholeNumbers(m * k, seed);
          const b = wholeNumbers(k * n, seed + 1);
          const start = wholeNumbers(m * n, seed + 2);
          const [pa, pb, pc] = [arena.put(a), arena.put(b), arena.floats(m * n)];
          const forms = [
            { form: 'gemmNN', left: rows(a, k), right: rows(b, n) },
            { form: 'gemmNT', left: rows(a, k), right: turned(rows(b, k)) },
            { form: 'gemmTN', left: turned(rows(a, m)), right: rows(b, n) },
          ] as const;
          for (const { form, left, right } of forms) {
            arena.view(pc, m * n).set(start);
            kernels[form](m, n, k, pa, pb, pc, accumulate as 0 | 1);
            const expected = product(m, n, k, left, right, accumulate ? start : undefined);
            expect(arena.view(pc, m * n), form).toEqual(expected);
          }
        }),
      ),
      { numRuns: proofRuns(150), seed: proofSeed() },
    );
  });

  test('[NUM-2] a packed right-hand side gives the same', () => {
    fc.assert(
      fc.property(fc.record(shape), ({ m, n, k, seed }) =>
        scoped(() => {
          const [pa, pb] = [arena.put(normalNumbers(m * k, seed)), arena.put(normalNumbers(k * n, seed + 1))];
          const packed = arena.floats(packedLength(k, n));
          const [plain, fast] = [arena.floats(m * n), arena.floats(m * n)];
          arena.view(fast, m * n).fill(0);
          run.packB(k, n, pb, n, 1, packed);
          kernels.gemmNN(m, n, k, pa, pb, plain);
          run.gemmPacked(m, n, k, pa, k, packed, fast, n);
          expect(arena.view(fast, m * n)).toEqual(arena.view(plain, m * n));
        }),
      ),
      { numRuns: proofRuns(200), seed: proofSeed() },
    );
  });

  test('[NUM-2] operands may be parts of wider matrices, and nothing beside the result is written', () =>
    scoped(() => {
      const [m, n, k, wide] = [7, 9, 5, 16];
      const a = wholeNumbers(m * wide, 1);
      const b = wholeNumbers(k * wide, 2);
      const c = arena.put(new Float32Array(m * wide).fill(99));
      run.gemm(m, n, k, arena.put(a), wide, 1, arena.put(b), wide, 1, c, wide, 0);
      const expected = product(m, n, k, rows(a, wide), rows(b, wide));
      const written = [...arena.view(c, m * wide)];
      expect(written.filter((_, i) => i % wide < n)).toEqual([...expected]);
      expect(written.filter((_, i) => i % wide >= n)).toEqual(new Array(m * (wide - n)).fill(99));
    }));

  test('[NUM-3] a row of a product is the same, whatever rows are computed with it', () => {
    const [m, n, k] = [23, 20, 400];
    scoped(() => {
      const [a, b] = [arena.put(normalNumbers(m * k, 1)), arena.put(normalNumbers(k * n, 2))];
      const [all, one] = [arena.floats(m * n), arena.floats(n)];
      kernels.gemmNN(m, n, k, a, b, all);
      for (let i = 0; i < m; i++) {
        kernels.gemmNN(1, n, k, a + i * k * 4, b, one);
        expect(arena.view(one, n)).toEqual(arena.view(all + i * n * 4, n));
      }
    });
  });
});

/** The kernel's result for input x. */
function applied(x: ArrayLike<number>, kernel: (pointer: number) => void): number[] {
  return scoped(() => {
    const pointer = arena.put(x);
    kernel(pointer);
    return [...arena.view(pointer, x.length)];
  });
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, value] of actual.entries()) expect(Math.abs(value - expected[i]!)).toBeLessThan(tolerance);
}

describe('element-wise and row-wise functions', () => {
  test('[NUM-4] bias and sum, for sizes that fill no vector', () => {
    expect(
      applied([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], (x) => run.addBias(2, 5, x, arena.put([1, 0, -1, 2, 10]))),
    ).toEqual([2, 2, 2, 6, 15, 7, 7, 7, 11, 20]);
    expect(applied([1, 2, 3, 4, 5], (x) => run.add(5, x, arena.put([5, 4, 3, 2, 1])))).toEqual([
      6, 6, 6, 6, 6,
    ]);
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
    const out = applied(
      known.map(([x]) => x),
      (x) => run.gelu(known.length, x),
    );
    for (const [i, [, y]] of known.entries()) expect(out[i]! / (y || 1)).toBeCloseTo(y === 0 ? 0 : 1, 5);
  });

  test('[NUM-4] softmax agrees with its formula for every width', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), (columns, seed) => {
        const values = normalNumbers(3 * columns, seed).map((value) => value * 5);
        const expected = [0, 1, 2].flatMap((i) => {
          const powers = [...values.subarray(i * columns, (i + 1) * columns)].map((value) =>
            Math.exp(0.7 * value),
          );
          const sum = powers.reduce((total, power) => total + power, 0);
          return powers.map((power) => power / sum);
        });
        expectClose(
          applied(values, (x) => run.softmaxRows(3, columns, x, 0.7)),
          expected,
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
      applied(values, (x) => run.softmaxRows(1, values.length, x, 1)),
      expected,
      1e-6,
    );
  });

  test('[NUM-4] softmax does not hide a NaN', () => {
    for (const at of [0, 4]) {
      const values = [1, 2, 3, 4, 5].map((value, i) => (i === at ? Number.NaN : value));
      expect(applied(values, (x) => run.softmaxRows(1, 5, x, 1)).some(Number.isNaN)).toBe(true);
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
          applied(values, (x) =>
            run.layerNormRows(2, columns, x, arena.put(gamma), arena.put(beta), epsilon),
          ),
          expected,
          1e-3,
        );
      }),
      { numRuns: proofRuns(200), seed: proofSeed() },
    );
  });

  test('[NUM-4] every byte is dequantised to low + step * byte', () =>
    scoped(() => {
      const bytes = Uint8Array.from({ length: 259 }, (_, i) => i % 256);
      const [from, to] = [arena.bytes(bytes.length), arena.floats(bytes.length)];
      arena.viewBytes(from, bytes.length).set(bytes);
      run.dequantise(bytes.length, from, -0.5, 0.0078125, to);
      expect([...arena.view(to, bytes.length)]).toEqual([...bytes].map((byte) => -0.5 + 0.0078125 * byte));
    }));

  test('[NUM-5] dot products with every row agree with plain sums, for every width', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 70 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        (columns, count, seed) =>
          scoped(() => {
            const matrix = wholeNumbers(count * columns, seed);
            const query = wholeNumbers(columns, seed + 1);
            const out = arena.floats(count);
            run.dotRows(count, columns, arena.put(matrix), arena.put(query), out);
            expect(arena.view(out, count)).toEqual(
              product(count, 1, columns, rows(matrix, columns), rows(query, 1)),
            );
          }),
      ),
      { numRuns: proofRuns(200), seed: proofSeed() },
    );
  });
});
