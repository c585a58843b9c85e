import { expect, test } from 'vitest';
import { PlainMultiplier } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { BlockAttention } from './candidate-attention-term.ts';
import { columnsFor, RaggedAttention, raggedLists } from './ragged-attention.ts';

const matrix = (...rows: readonly number[][]) => ({
  rows: rows.length,
  columns: rows[0]!.length,
  values: Float64Array.from(rows.flat()),
});

test('[RANK-8] attention is a softmax over the rows of its list, for each head by itself', () => {
  // Sharpness ln 3: a product that is greater by 1 weighs three times as much.
  const attention = new RaggedAttention(new PlainMultiplier(), 'sharpness', 2, Math.log(3));
  const queries = matrix([1, 0], [2, 5], [1, 1]);
  const keys = matrix([1, 9], [0, 9], [1, 1]);
  const values = matrix([8, 80], [4, 40], [0, 0]);
  const out = attention.forward(queries, keys, values, raggedLists([[0, 1], [1], []]));
  // First head: weights 3/4 and 1/4; second: a query of 0 gives 1/2 and 1/2. A list of one is that one.
  const expected = [7, 60, 4, 40, 0, 0];
  expectEqual(out.values, expected);
});

test('[RANK-8] blocks of rows that see each other give the same result as lists of all rows of a block', () => {
  const random = createRandom(1);
  const rows = () => matrix(...Array.from({ length: 5 }, () => [0, 1, 2, 3].map(() => random.normal())));
  const [queries, keys, values, slopes] = [rows(), rows(), rows(), rows()];
  const ragged = new RaggedAttention(new PlainMultiplier(), 'sharpness', 2, 0.7);
  const block = new BlockAttention(new PlainMultiplier(), 'sharpness', 2, 0.7);
  const lists = raggedLists([
    [0, 1, 2],
    [0, 1, 2],
    [0, 1, 2],
    [3, 4],
    [3, 4],
  ]);
  const outs = [
    ragged.forward(queries, keys, values, lists),
    block.forward(queries, keys, values, [3, 0, 2]),
  ];
  expectEqual(outs[0]!.values, outs[1]!.values);
  const [one, other] = [ragged.backward(slopes), block.backward(slopes)];
  for (const part of ['queries', 'keys', 'values'] as const)
    expectEqual(one[part].values, other[part].values);
  expectEqual(ragged.sharpness.slopes, block.sharpness.slopes);
});

test('[RANK-8] huge products give weights that are correct or at least finite', () => {
  const attention = new RaggedAttention(new PlainMultiplier(), 'sharpness', 1, 1);
  const values = matrix([1], [2], [3]);
  const weigh = (...keys: number[]) =>
    attention.forward(matrix([1]), matrix(...keys.map((key) => [key])), values, raggedLists([[0, 1, 2]]))
      .values[0];
  expect(weigh(1e300, 0, -1e300)).toBe(1);
  expect(weigh(-1e300, -1e300, -1e300)).toBeCloseTo(2, 12);
  expect(weigh(-2000, 2000, 0)).toBe(2);
});

test('[RANK-8] heads share the columns evenly, whatever their number', () => {
  expect([4, 8, 12, 16].map((heads) => columnsFor(64, heads))).toEqual([64, 64, 60, 64]);
  expect(columnsFor(2, 16)).toBe(16);
});

function expectEqual(values: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(values.length).toBe(expected.length);
  for (let i = 0; i < values.length; i++) expect(values[i]).toBeCloseTo(expected[i]!, 12);
}
