import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { createRandom } from '../../numeric/random.ts';
import { decodeFitting, decodeParams, encodeParams, loadParams } from './params-file.ts';
import { createRankModel } from './rank-model.ts';

const HEAD = { embedding: 'tiny', dimension: 8, runs: 3 };
const REFUSED = expect.objectContaining({
  code: 'invalid_argument',
  message: expect.stringMatching(/^The learned parameters cannot be read: /),
  hint: expect.stringContaining('pml train'),
});

const BLOCKS = fc.uniqueArray(
  fc.record({ name: fc.string(), values: fc.float32Array({ maxLength: 40, noNaN: true }) }),
  { selector: ({ name }) => name, maxLength: 6 },
);

test('[LEARN-5] parameters are read exactly as written, at any offset in memory', () => {
  fc.assert(
    fc.property(BLOCKS, fc.string(), fc.nat(), fc.nat(7), (blocks, embedding, runs, shift) => {
      const head = { embedding, dimension: 8, runs };
      const bytes = encodeParams(head, blocks);
      const moved = new Uint8Array(bytes.length + shift).subarray(shift);
      moved.set(bytes);
      const read = decodeParams(moved);
      expect(read.head).toEqual(head);
      expect([...read.values]).toEqual(blocks.map(({ name, values }) => [name, values]));
    }),
    { numRuns: proofRuns(1_000), seed: proofSeed() },
  );
});

test('[LEARN-19] a file that was cut, extended or changed in any byte is rejected', () => {
  const bytes = encodeParams(HEAD, [{ name: 'a', values: Float32Array.of(1, 2, 3) }]);
  for (let length = 0; length < bytes.length; length++)
    expect(() => decodeParams(bytes.subarray(0, length)), `${length} bytes`).toThrow(REFUSED);
  expect(() => decodeParams(Uint8Array.of(...bytes, 0))).toThrow(REFUSED);
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = bytes.slice();
      damaged[at]! ^= change;
      expect(() => decodeParams(damaged)).toThrow(REFUSED);
    }),
    { numRuns: proofRuns(2_000), seed: proofSeed() },
  );
});

test('[LEARN-5] a model loads its own parameters, and rejects those of another shape unchanged', () => {
  const model = (dimension: number, seed: number) =>
    createRankModel(new WasmMultiplier(), dimension, createRandom(seed)).parameters;
  const [written, read, other] = [model(8, 1), model(8, 2), model(9, 3)];
  const { values } = decodeParams(encodeParams(HEAD, written));
  loadParams(values, read);
  expect(read.map((parameter) => parameter.values)).toEqual(written.map((parameter) => parameter.values));
  const before = other.map((parameter) => parameter.values.slice());
  expect(() => loadParams(values, other)).toThrow(REFUSED);
  expect(other.map((parameter) => parameter.values)).toEqual(before);
});

test('[LEARN-16] parameters trained on vectors of another model, or on other features, are rejected', () => {
  const head = { ...HEAD, form: 'length width' };
  const bytes = encodeParams(head, [{ name: 'a', values: Float32Array.of(1) }]);
  expect(decodeFitting(bytes, head).get('a')).toEqual(Float32Array.of(1));
  for (const other of [{ embedding: 'large' }, { dimension: 9 }, { form: 'length height' }])
    expect(() => decodeFitting(bytes, { ...head, ...other })).toThrow(REFUSED);
});
