import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { leadingEigen, symmetricEigen } from './eigen.ts';
import { dot } from './matrices.ts';
import { createRandom, type Random } from './random.ts';

/** M Mᵀ: few columns make many eigenvalues 0, repeated rows make some equal. */
function randomGram(random: Random, size: number): Float64Array[] {
  const columns = 1 + random.int(size + 3);
  const rows = Array.from({ length: size }, () =>
    Float64Array.from({ length: columns }, () => (random.next() < 0.5 ? 0 : random.int(4))),
  );
  return rows.map((a) => Float64Array.from(rows, (b) => dot(a, b)));
}

function flat(rows: readonly Float64Array[]): Float64Array {
  return Float64Array.from(rows.flatMap((row) => [...row]));
}

/** Expects orthonormal vectors that the matrix only stretches, and values in descending order. */
function expectEigen(
  rows: readonly Float64Array[],
  { values, vectors }: { values: Float64Array; vectors: Float64Array },
  precision: number,
): void {
  const size = rows.length;
  const each = Array.from(values, (_, i) => vectors.subarray(i * size, (i + 1) * size));
  const scale = Math.max(1, values[0] ?? 0);
  for (const [i, vector] of each.entries()) {
    const error = rows.map((row, k) => Math.abs(dot(row, vector) - values[i]! * vector[k]!));
    expect(Math.max(...error) / scale).toBeLessThan(precision);
    for (let j = 0; j <= i; j++) expect(dot(vector, each[j]!)).toBeCloseTo(i === j ? 1 : 0, 8);
    if (i > 0) expect(values[i]! - values[i - 1]!).toBeLessThan(1e-9 * scale);
  }
}

describe('[GRAPH-15] eigenvectors', () => {
  test('of random symmetric matrices, also singular ones and ones with equal values', () => {
    const random = createRandom(proofSeed());
    for (let proof = 0; proof < proofRuns(200); proof++) {
      const rows = randomGram(random, random.int(24));
      const found = symmetricEigen(flat(rows), rows.length);
      expect(found.values.length).toBe(rows.length);
      expectEigen(rows, found, 1e-12);
    }
  });

  test('of matrices that are diagonal, or the same in every entry', () => {
    expect([...symmetricEigen(Float64Array.of(3, 0, 0, 0, 7, 0, 0, 0, 5), 3).values]).toEqual([7, 5, 3]);
    const [first, ...rest] = symmetricEigen(new Float64Array(16).fill(1), 4).values;
    expect(first).toBeCloseTo(4, 12);
    for (const value of rest) expect(value).toBeCloseTo(0, 12);
  });

  test('the leading ones equal those of the full decomposition', () => {
    const random = createRandom(proofSeed());
    for (let proof = 0; proof < proofRuns(100); proof++) {
      const rows = randomGram(random, 20 + random.int(40));
      const all = symmetricEigen(flat(rows), rows.length);
      const found = leadingEigen(
        rows.length,
        5,
        (vector, product) => product.set(rows.map((row) => dot(row, vector))),
        createRandom(1),
      );
      expect(found.values.length).toBe(5);
      for (const [i, value] of found.values.entries()) {
        expect(Math.abs(value - all.values[i]!) / Math.max(1, all.values[0]!)).toBeLessThan(1e-5);
      }
      expectEigen(rows, found, 1e-2);
    }
  });

  test('three separate blocks have the greatest value three times', () => {
    const size = 60;
    const multiply = (vector: Float64Array, product: Float64Array) => {
      for (let block = 0; block < 3; block++) {
        const sum = vector.subarray(20 * block, 20 * block + 20).reduce((a, b) => a + b, 0);
        product.fill(sum / 20, 20 * block, 20 * block + 20);
      }
    };
    const { values } = leadingEigen(size, 5, multiply, createRandom(1));
    expect([...values].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([1, 1, 1, 0, 0]);
  });
});
