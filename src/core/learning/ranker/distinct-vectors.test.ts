import { expect, test } from 'vitest';
import { DistinctVectors } from './distinct-vectors.ts';

test('equal vectors have one row, others each their own, and products are told by row', () => {
  const vectors = new DistinctVectors(4);
  const [first, again] = [Float32Array.of(1, 0, 0, 2), Float32Array.of(1, 0, 0, 2)];
  // The same but for the last number.
  const other = Float32Array.of(1, 0, 0, 3);
  expect([first, other, again, other].map((vector) => vectors.add(vector))).toEqual([0, 1, 0, 1]);
  expect(vectors.size).toBe(2);
  const queries = [Float32Array.of(1, 0, 0, 0), Float32Array.of(0, 0, 0, 1)];
  expect([...vectors.greatestDots(queries)]).toEqual([2, 3]);
});
