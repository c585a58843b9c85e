import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { Kernels, STRIP } from './kernels.ts';
import { createRandom } from './random.ts';

const kernels = new Kernels();
const { run, arena } = kernels;

/** Runs `use`, then releases the memory it allocated. */
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

  test('[NUM-2] a packed right-hand side gives the same product', () => {
    fc.assert(
      fc.property(fc.record(shape), ({ m, n, k, seed }) =>
        scoped(() => {
          const b = normalNumbers(k * n, seed + 1);
          const [pa, pb] = [arena.put(normalNumbers(m * k, seed)), arena.put(b)];
          const strips = Math.ceil(n / STRIP);
          const packed = arena.floats(strips * k * STRIP);
          const [plain, fast] = [arena.floats(m * n), arena.floats(m * n)];
          arena.view(fast, m * n).fill(0);
          const lanes = arena.view(packed, strips * k * STRIP).fill(0);
          for (let p = 0; p < k; p++) {
            for (let j = 0; j < n; j++) {
              lanes[(Math.floor(j / STRIP) * k + p) * STRIP + (j % STRIP)] = b[p * n + j]!;
            }
          }
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

  test('[NUM-3] a row of a product does not depend on the rows computed with it', () => {
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
