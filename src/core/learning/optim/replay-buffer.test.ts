import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { createRandom } from '../../numeric/random.ts';
import { annealedBeta, ReplayBuffer, SumTree } from './replay-buffer.ts';

const seed = proofSeed();
const errors = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 40 });

function filled(tdErrors: readonly number[], options: { alpha?: number; capacity?: number } = {}) {
  const buffer = new ReplayBuffer<number>({ random: createRandom(seed), ...options });
  for (const [item, tdError] of tdErrors.entries()) buffer.add(item, tdError);
  return buffer;
}

/** Pearson's statistic: under the hypothesis, its mean is the degrees of freedom and its variance twice that. */
function chiSquare(observed: readonly number[], expected: readonly number[]): number {
  return observed.reduce((sum, count, i) => sum + (count - expected[i]!) ** 2 / expected[i]!, 0);
}

const limit = (freedom: number) => freedom + 5 * Math.sqrt(2 * freedom);

describe('sum tree', () => {
  test('[REPLAY-1] every mark is found where the cumulative sum passes it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 50 }), (values) => {
        const tree = new SumTree(values.length);
        for (const [i, value] of values.entries()) tree.set(i, value);
        const owners = values.flatMap((value, i) => new Array<number>(value).fill(i));
        expect(tree.total).toBe(owners.length);
        expect(owners.map((_, mark) => tree.find(mark))).toEqual(owners);
      }),
      { seed, numRuns: proofRuns(300) },
    );
  });
});

describe('prioritized replay', () => {
  test('[REPLAY-1] probabilities add up to 1 and are proportional to (|TD error| + epsilon)^alpha', () => {
    fc.assert(
      fc.property(errors, fc.constantFrom(0, 0.3, 0.6, 0.9, 1), (tdErrors, alpha) => {
        const buffer = filled(tdErrors, { alpha });
        const shares = tdErrors.map((_, index) => buffer.probability(index));
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
        for (const [i, tdError] of tdErrors.entries()) {
          const ratio = (Math.abs(tdError) + 1e-3) / (Math.abs(tdErrors[0]!) + 1e-3);
          expect(shares[i]! / shares[0]!).toBeCloseTo(ratio ** alpha, 8);
        }
      }),
      { seed, numRuns: proofRuns(300) },
    );
  });

  test('[REPLAY-1] items are drawn in proportion to their probability', () => {
    const buffer = filled(
      Array.from({ length: 30 }, (_, i) => (i % 7) / 3 - 1),
      { alpha: 0.6 },
    );
    const counts = new Array<number>(30).fill(0);
    const batches = 2000;
    for (let batch = 0; batch < batches; batch++) {
      for (const index of buffer.sample(16, 0.4).indices) counts[index]! += 1;
    }
    const expected = counts.map((_, index) => batches * 16 * buffer.probability(index));
    expect(chiSquare(counts, expected)).toBeLessThan(limit(29));
  });

  test('[REPLAY-1] alpha 0 draws uniformly with equal weights', () => {
    const buffer = filled([0, 1, 2, 50], { alpha: 0 });
    for (let index = 0; index < 4; index++) expect(buffer.probability(index)).toBe(0.25);
    expect([...buffer.sample(8, 0.7).weights]).toEqual(new Array(8).fill(1));
  });

  test('[REPLAY-2] weights are (N P)^-beta over the greatest of the batch', () => {
    fc.assert(
      fc.property(errors, fc.double({ min: 0, max: 1, noNaN: true }), (tdErrors, beta) => {
        const buffer = filled(tdErrors);
        const { indices, weights } = buffer.sample(12, beta);
        expect(Math.max(...weights)).toBe(1);
        const rarest = Math.min(...indices.map((index) => buffer.probability(index)));
        for (const [i, index] of indices.entries()) {
          expect(weights[i]).toBeCloseTo((buffer.probability(index) / rarest) ** -beta, 8);
        }
      }),
      { seed, numRuns: proofRuns(300) },
    );
  });

  test('[REPLAY-2] with beta 1 the weighted mean of draws is the plain mean of the buffer, up to its scale', () => {
    const values = [3, -1, 4, 1, -5, 9, 2, 6];
    const buffer = filled(values);
    let [weighted, total] = [0, 0];
    for (let batch = 0; batch < 3000; batch++) {
      // A batch's scale must not matter: it is undone by the weight of a uniform draw.
      const { items, indices, weights } = buffer.sample(16, 1);
      const scale = (weights[0]! * buffer.probability(indices[0]!) * values.length) ** -1;
      for (const [i, item] of items.entries()) {
        weighted += weights[i]! * scale * values[item]!;
        total += weights[i]! * scale;
      }
    }
    expect(weighted / total).toBeCloseTo(19 / 8, 1);
  });

  test('[REPLAY-2] beta rises from .4 to 1', () => {
    expect([0, 50, 100].map((step) => annealedBeta(step, 101))).toEqual([0.4, 0.7, 1]);
    expect(annealedBeta(500, 101)).toBe(1);
    expect(annealedBeta(0, 1)).toBe(1);
  });

  test('[REPLAY-3] priorities are set by position in the buffer, not in the batch', () => {
    const buffer = filled(new Array<number>(50).fill(1), { alpha: 1 });
    const batch = buffer.sample(5, 1);
    const before = buffer.probability(0) * 50;
    expect(before).toBeCloseTo(1, 10);
    buffer.updatePriorities(
      batch,
      batch.items.map((item) => 10 + item),
    );
    for (let index = 0; index < 50; index++) {
      const expected = batch.items.includes(index) ? 10 + index + 1e-3 : 1 + 1e-3;
      const ratio = buffer.probability(index) / buffer.probability(batch.indices[0]!);
      expect(ratio).toBeCloseTo(expected / (10 + batch.items[0]! + 1e-3), 8);
    }
  });

  test('[REPLAY-3] an item that has left the buffer does not pass its priority on', () => {
    const buffer = filled([1, 1, 1, 1], { capacity: 4, alpha: 1 });
    const batch = buffer.sample(40, 1);
    const replaced = new Set<number>();
    for (let item = 4; replaced.size === 0; item++) {
      const index = buffer.add(item, 1);
      if (index !== null) replaced.add(index);
    }
    buffer.updatePriorities(batch, new Float64Array(40).fill(3));
    const stale = [...replaced][0]!;
    for (let index = 0; index < 4; index++) {
      expect(buffer.probability(index)).toBeCloseTo(
        (index === stale ? 1.001 : 3.001) / (3 * 3.001 + 1.001),
        8,
      );
    }
  });

  test('[REPLAY-5] a new item has the greatest priority so far', () => {
    const buffer = filled([0.1, 7, 0.3], { alpha: 1 });
    const index = buffer.add(3)!;
    expect(buffer.probability(index)).toBeCloseTo(buffer.probability(1), 10);
  });

  test('[REPLAY-6] a TD error of NaN is rejected', () => {
    const buffer = filled([1, 2]);
    const batch = buffer.sample(2, 1);
    expect(() => buffer.updatePriorities(batch, [Number.NaN, 1])).toThrow(/NaN/);
    expect(() => buffer.add(3, Number.POSITIVE_INFINITY)).toThrow(/Infinity/);
  });
});

describe('reservoir', () => {
  test('[REPLAY-4] a full buffer is a uniform sample of everything added', () => {
    const [capacity, stream, trials] = [10, 60, 3000];
    const random = createRandom(seed);
    const counts = new Array<number>(stream).fill(0);
    for (let trial = 0; trial < trials; trial++) {
      const buffer = new ReplayBuffer<number>({ random, capacity });
      for (let item = 0; item < stream; item++) buffer.add(item);
      for (const item of buffer.items) counts[item]! += 1;
      expect(buffer.size).toBe(capacity);
      expect(buffer.seen).toBe(stream);
    }
    const expected = counts.map(() => (trials * capacity) / stream);
    expect(chiSquare(counts, expected)).toBeLessThan(limit(stream - 1));
  });

  test('[REPLAY-4] the same seed keeps and draws the same, and an empty buffer gives an empty batch', () => {
    const draw = () => {
      const buffer = filled(
        Array.from({ length: 500 }, (_, i) => Math.sin(i)),
        { capacity: 100 },
      );
      return { items: [...buffer.items], batch: buffer.sample(32, 0.5) };
    };
    expect(draw()).toEqual(draw());
    expect(new ReplayBuffer({ random: createRandom(1) }).sample(4, 1).items).toEqual([]);
  });
});
