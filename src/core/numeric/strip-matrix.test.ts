import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { StripMatrix } from './kernels.ts';
import { createRandom } from './random.ts';
import { RowMatrix } from './top-k.ts';

test('[NUM-8] the greatest dot product of each row with several queries agrees with single queries', () => {
  const shape = fc.record({
    seed: fc.nat(),
    rows: fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(1_023, 1_024, 1_025, 2_050)),
    columns: fc.integer({ min: 1, max: 40 }),
    queries: fc.integer({ min: 1, max: 14 }),
  });
  fc.assert(
    fc.property(shape, ({ seed, rows, columns, queries }) => {
      const random = createRandom(seed);
      const vector = () => Float32Array.from({ length: columns }, () => random.normal());
      const strips = new StripMatrix(columns);
      const plain = new RowMatrix(columns);
      for (let row = 0; row < rows; row++) {
        const each = vector();
        strips.push(each);
        plain.push(each);
      }
      const asked = Array.from({ length: queries }, vector);
      const dots = asked.map((query) => plain.dots(query));
      const greatest = strips.greatestDots(asked);
      expect(greatest).toHaveLength(rows);
      for (const [row, value] of greatest.entries()) {
        const expected = Math.max(...dots.map((of) => of[row]!));
        expect(Math.abs(value - expected)).toBeLessThan(1e-6 * columns);
      }
    }),
    { numRuns: proofRuns(60), seed: proofSeed() },
  );
});

test('[NUM-8] rows added after a search are found by the next', () => {
  const strips = new StripMatrix(2);
  const queries = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
  expect(strips.greatestDots(queries)).toEqual(new Float32Array());
  strips.push(Float32Array.of(2, 3));
  expect([...strips.greatestDots(queries)]).toEqual([3]);
  strips.push(Float32Array.of(-1, -5));
  expect([...strips.greatestDots(queries)]).toEqual([3, -1]);
});
