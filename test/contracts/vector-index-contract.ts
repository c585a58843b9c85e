import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalise } from '../../src/core/numeric/normalise.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import type { VectorIndex } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';

const ids = (index: VectorIndex, query: Float32Array, k: number) =>
  index.nearest(query, k).map(({ id }) => id);

/** What every vector index promises; run on the plain twin and on each real one alike. */
export function vectorIndexContract(name: string, create: (dimension: number) => VectorIndex): void {
  describe(`vector index: ${name}`, () => {
    test('[VEC-1] gives the k nearest, best first, with their cosine', () => {
      const index = create(3);
      index.set('x', Float32Array.of(1, 0, 0));
      index.set('between', Float32Array.of(0.6, 0.8, 0));
      index.set('y', Float32Array.of(0, 1, 0));
      index.set('against', Float32Array.of(-1, 0, 0));
      const nearest = index.nearest(Float32Array.of(1, 0, 0), 3);
      expect(nearest.map(({ id }) => id)).toEqual(['x', 'between', 'y']);
      for (const [i, cosine] of [1, 0.6, 0].entries()) expect(nearest[i]!.score).toBeCloseTo(cosine, 6);
      expect(index).toMatchObject({ size: 4, dimension: 3 });
    });

    test('[VEC-1] gives all it has when that is less than k, and nothing when it is empty or k is 0', () => {
      const index = create(2);
      const query = Float32Array.of(1, 0);
      expect(index.nearest(query, 5)).toEqual([]);
      index.set('only', query);
      expect(ids(index, query, 5)).toEqual(['only']);
      expect(index.nearest(query, 0)).toEqual([]);
    });

    test('[VEC-5] tells the cosine of the vectors asked for, in their order, and NaN for what it does not hold', () => {
      const index = create(3);
      const query = Float32Array.of(0.6, 0.8, 0);
      expect([...index.scores(query, ['x'])]).toEqual([Number.NaN]);
      index.set('y', Float32Array.of(0, 1, 0));
      index.set('gone', query);
      index.set('x', Float32Array.of(1, 0, 0));
      index.delete('gone');
      const [x, gone, y] = index.scores(query, ['x', 'gone', 'y']);
      expect(x).toBeCloseTo(0.6, 6);
      expect(gone).toBeNaN();
      expect(y).toBeCloseTo(0.8, 6);
      expect([...index.scores(query, [])]).toEqual([]);
    });

    test('[VEC-2] equal scores come in order of insertion, also after replacing and deleting', () => {
      const index = create(5);
      const same = normalise(Float32Array.of(1, 2, 3, 4, 5));
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) index.set(id, same);
      index.set('b', Float32Array.of(0, 0, 0, 0, 1));
      index.set('b', same);
      index.delete('c');
      index.delete('a');
      index.set('c', same);
      expect(ids(index, same, 9)).toEqual(['b', 'd', 'e', 'f', 'c']);
      expect(ids(index, same, 2)).toEqual(['b', 'd']);
    });

    test('[VEC-3] replaces by id, and forgets what is deleted', () => {
      const index = create(2);
      const [right, up] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
      index.set('a', right);
      index.set('b', right);
      index.set('a', up);
      expect(index.size).toBe(2);
      expect(ids(index, up, 1)).toEqual(['a']);
      expect(index.get('a')).toEqual(up);
      expect(index.delete('a')).toBe(true);
      expect(index.get('a')).toBeUndefined();
      expect(index.delete('a')).toBe(false);
      expect(index.size).toBe(1);
      expect(ids(index, up, 5)).toEqual(['b']);
    });

    test('[VEC-3] keeps its own copy of a vector', () => {
      const index = create(2);
      const vector = Float32Array.of(1, 0);
      index.set('a', vector);
      vector.fill(0);
      expect(index.nearest(Float32Array.of(1, 0), 1)[0]!.score).toBe(1);
    });

    test('[VEC-4] refuses vectors of another dimension or with numbers that are none', () => {
      const index = create(2);
      for (const wrong of [[1], [1, 0, 0], [Number.NaN, 0], [0, Number.POSITIVE_INFINITY]]) {
        const refused = expect.objectContaining({ code: 'invalid_argument' });
        expect(() => index.set('a', Float32Array.from(wrong))).toThrow(refused);
        expect(() => index.nearest(Float32Array.from(wrong), 1)).toThrow(refused);
      }
      expect(index.size).toBe(0);
    });

    test('[VEC-1] finds what sorting by cosine finds, through any history', () => {
      const step = fc.record({ id: fc.integer({ min: 0, max: 30 }), isDelete: fc.boolean(), seed: fc.nat() });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (steps, k) => {
          const index = create(7);
          const kept = new Map<string, Float32Array>();
          for (const { id, isDelete, seed } of steps) {
            const vector = randomVector(7, seed);
            if (isDelete) expect(index.delete(`${id}`)).toBe(kept.delete(`${id}`));
            else {
              index.set(`${id}`, vector);
              kept.set(`${id}`, vector);
            }
          }
          const query = randomVector(7, 1);
          const scores = [...kept].map(([id, v]) => ({
            id,
            score: v.reduce((s, x, i) => s + x * query[i]!, 0),
          }));
          const expected = scores.sort((a, b) => b.score - a.score).slice(0, k);
          const found = index.nearest(query, k);
          expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
          for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(expected[i]!.score, 5);
        }),
        { numRuns: proofRuns(300), seed: proofSeed() },
      );
    });
  });
}

function randomVector(dimension: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return normalise(Float32Array.from({ length: dimension }, () => random.normal()));
}
