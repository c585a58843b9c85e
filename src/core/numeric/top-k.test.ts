import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { RowMatrix, TopK } from './top-k.ts';

test('[NUM-5] the k best agree with sorting, equal scores in order of arrival', () => {
  const scores = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 60 });
  fc.assert(
    fc.property(scores, fc.integer({ min: 0, max: 70 }), (values, k) => {
      const best = new TopK(k);
      for (const [row, score] of values.entries()) best.offer(row, score);
      const sorted = values.map((score, row) => ({ row, score })).sort((a, b) => b.score - a.score);
      expect(best.sorted()).toEqual(sorted.slice(0, k));
    }),
    { numRuns: proofRuns(500), seed: proofSeed() },
  );
});

test('[NUM-5] NaN never displaces a number', () => {
  const best = new TopK(2);
  for (const [row, score] of [Number.NaN, 1, Number.NaN, 2].entries()) best.offer(row, score);
  expect(best.sorted()).toEqual([
    { row: 3, score: 2 },
    { row: 1, score: 1 },
  ]);
});

test('[NUM-5] rows of a matrix are found through additions, changes and removals', () => {
  const step = fc.record({
    what: fc.constantFrom('push', 'push', 'push', 'set', 'remove'),
    where: fc.nat(),
    vector: fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 5, maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (steps, k) => {
      const matrix = new RowMatrix(5);
      // The expected rows, in the places where the matrix keeps them, each with its time of insertion.
      const kept: { came: number; vector: number[] }[] = [];
      for (const [came, { what, where, vector }] of steps.entries()) {
        const row = where % Math.max(1, kept.length);
        if (what === 'push') {
          matrix.push(Float32Array.from(vector));
          kept.push({ came, vector });
        } else if (kept.length > 0 && what === 'set') {
          matrix.set(row, Float32Array.from(vector));
          kept[row]!.vector = vector;
        } else if (kept.length > 0) {
          matrix.remove(row);
          const last = kept.pop()!;
          if (row < kept.length) kept[row] = last;
        }
      }
      const query = [3, -1, 2, 0, 1];
      const expected = kept
        .map(({ came, vector }, row) => ({
          row,
          came,
          score: vector.reduce((sum, v, i) => sum + v * query[i]!, 0),
        }))
        .sort((a, b) => b.score - a.score || a.came - b.came)
        .slice(0, k)
        .map(({ row, score }) => ({ row, score }));
      expect(matrix.rows).toBe(kept.length);
      expect(matrix.nearest(Float32Array.from(query), k)).toEqual(expected);
    }),
    { numRuns: proofRuns(200), seed: proofSeed() },
  );
});

test('[NUM-5] thousands of rows are searched as one', () => {
  const matrix = new RowMatrix(3);
  for (let i = 0; i < 5000; i++) matrix.push(Float32Array.of(i % 2500, 1, 0));
  expect(matrix.nearest(Float32Array.of(1, 0, 0), 3)).toEqual([
    { row: 2499, score: 2499 },
    { row: 4999, score: 2499 },
    { row: 2498, score: 2498 },
  ]);
});
