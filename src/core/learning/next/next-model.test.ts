import { expect, test } from 'vitest';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { createRandom } from '../../numeric/random.ts';
import { decodeParams, encodeParams } from '../ranker/params-file.ts';
import { createNextModel, loadNext, nextBlocks } from './next-model.ts';

test('[LEARN-15] a predictor loads stored parameters of its shape bit by bit, and rejects another shape unchanged', () => {
  const modelOf = (dimension: number, seed: number) =>
    createNextModel(new WasmMultiplier(), dimension, createRandom(seed));
  const numbersOf = (model: ReturnType<typeof modelOf>) => nextBlocks(model).map(({ values }) => [...values]);
  const [written, read, other] = [modelOf(8, 1), modelOf(8, 2), modelOf(9, 3)];
  const bytes = encodeParams({ embedding: 'tiny', dimension: 8, runs: 3 }, nextBlocks(written));
  const { values } = decodeParams(bytes);
  expect(numbersOf(read)).not.toEqual(numbersOf(written));
  loadNext(values, read);
  expect(numbersOf(read)).toEqual(numbersOf(written));
  const before = numbersOf(other);
  expect(() => loadNext(values, other)).toThrow(/cannot be read/);
  expect(numbersOf(other)).toEqual(before);
});
