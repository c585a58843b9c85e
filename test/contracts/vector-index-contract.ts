import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import type { StoredVectorIndex, VectorIndex } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';

type AnyIndex = VectorIndex | StoredVectorIndex;

const ids = async (index: AnyIndex, query: Float32Array, k: number) =>
  (await index.nearest(query, k)).map(({ id }) => id);

/** What every vector index promises; run on the plain twin and on each real one alike. */
export function vectorIndexContract(
  name: string,
  create: (dimension: number) => AnyIndex | Promise<AnyIndex>,
): void {
  describe(`vector index: ${name}`, () => {
    test('[VEC-1] gives the k nearest, best first, with their cosine', async () => {
      const index = await create(3);
      await index.set('x', Float32Array.of(1, 0, 0));
      await index.set('between', Float32Array.of(0.6, 0.8, 0));
      await index.set('y', Float32Array.of(0, 1, 0));
      await index.set('against', Float32Array.of(-1, 0, 0));
      const nearest = await index.nearest(Float32Array.of(1, 0, 0), 3);
      expect(nearest.map(({ id }) => id)).toEqual(['x', 'between', 'y']);
      for (const [i, cosine] of [1, 0.6, 0].entries()) expect(nearest[i]!.score).toBeCloseTo(cosine, 6);
      expect([await index.size, index.dimension]).toEqual([4, 3]);
    });

    test('[VEC-1] returns everything when that is less than k, and nothing when it is empty or k is 0', async () => {
      const index = await create(2);
      const query = Float32Array.of(1, 0);
      expect(await index.nearest(query, 5)).toEqual([]);
      await index.set('only', query);
      expect(await ids(index, query, 5)).toEqual(['only']);
      expect(await index.nearest(query, 0)).toEqual([]);
    });

    test('[VEC-5] returns the cosines of the requested vectors in order, and NaN for unknown ones', async () => {
      const index = await create(3);
      const query = Float32Array.of(0.6, 0.8, 0);
      expect([...(await index.scores(query, ['x']))]).toEqual([Number.NaN]);
      await index.set('y', Float32Array.of(0, 1, 0));
      await index.set('gone', query);
      await index.set('x', Float32Array.of(1, 0, 0));
      await index.delete('gone');
      const [x, gone, y] = await index.scores(query, ['x', 'gone', 'y']);
      expect(x).toBeCloseTo(0.6, 6);
      expect(gone).toBeNaN();
      expect(y).toBeCloseTo(0.8, 6);
      expect([...(await index.scores(query, []))]).toEqual([]);
    });

    test('[VEC-2] equal scores come in order of insertion, also after replacing and deleting', async () => {
      const index = await create(5);
      const same = normalise(Float32Array.of(1, 2, 3, 4, 5));
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await index.set(id, same);
      await index.set('b', Float32Array.of(0, 0, 0, 0, 1));
      await index.set('b', same);
      await index.delete('c');
      await index.delete('a');
      await index.set('c', same);
      expect(await ids(index, same, 9)).toEqual(['b', 'd', 'e', 'f', 'c']);
      expect(await ids(index, same, 2)).toEqual(['b', 'd']);
    });

    test('[VEC-3] replaces by id, and forgets what is deleted', async () => {
      const index = await create(2);
      const [right, up] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
      await index.set('a', right);
      await index.set('b', right);
      await index.set('a', up);
      expect(await index.size).toBe(2);
      expect(await ids(index, up, 1)).toEqual(['a']);
      expect(await index.get('a')).toEqual(up);
      expect(await index.delete('a')).toBe(true);
      expect(await index.get('a')).toBeUndefined();
      expect(await index.delete('a')).toBe(false);
      expect(await index.size).toBe(1);
      expect(await ids(index, up, 5)).toEqual(['b']);
    });

    test('[VEC-3] keeps its own copy of a vector', async () => {
      const index = await create(2);
      const vector = Float32Array.of(1, 0);
      await index.set('a', vector);
      vector.fill(0);
      expect((await index.nearest(Float32Array.of(1, 0), 1))[0]!.score).toBe(1);
    });

    test('[VEC-4] refuses vectors of another dimension or with values that are not numbers', async () => {
      const index = await create(2);
      for (const wrong of [[1], [1, 0, 0], [Number.NaN, 0], [0, Number.POSITIVE_INFINITY]]) {
        const refused = expect.objectContaining({ code: 'invalid_argument' });
        await expect(async () => index.set('a', Float32Array.from(wrong))).rejects.toEqual(refused);
        await expect(async () => index.nearest(Float32Array.from(wrong), 1)).rejects.toEqual(refused);
      }
      expect(await index.size).toBe(0);
    });

    test('[VEC-1] finds what sorting by cosine finds, after any history', async () => {
      const step = fc.record({ id: fc.integer({ min: 0, max: 30 }), isDelete: fc.boolean(), seed: fc.nat() });
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 80 }),
          fc.integer({ min: 1, max: 40 }),
          async (steps, k) => {
            const index = await create(7);
            const kept = new Map<string, Float32Array>();
            for (const { id, isDelete, seed } of steps) {
              const vector = randomVector(7, seed);
              if (isDelete) expect(await index.delete(`${id}`)).toBe(kept.delete(`${id}`));
              else {
                await index.set(`${id}`, vector);
                kept.set(`${id}`, vector);
              }
            }
            const query = randomVector(7, 1);
            const scores = [...kept].map(([id, v]) => ({
              id,
              score: v.reduce((s, x, i) => s + x * query[i]!, 0),
            }));
            const expected = scores.sort((a, b) => b.score - a.score).slice(0, k);
            const found = await index.nearest(query, k);
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
            for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(expected[i]!.score, 5);
          },
        ),
        { numRuns: proofRuns(300), seed: proofSeed() },
      );
    });
  });
}

function randomVector(dimension: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return normalise(Float32Array.from({ length: dimension }, () => random.normal()));
}
