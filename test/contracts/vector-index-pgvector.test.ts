import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PgvectorIndex } from '../../src/adapters/store/pgvector/intent-index.ts';
import { createSqlStore } from '../../src/adapters/store/sql-store.ts';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import { sampleTrace } from '../support/samples.ts';
import { openVectorStore, type VectorStore } from '../support/vector-store.ts';
import { vectorIndexContract } from './vector-index-contract.ts';

let opened: VectorStore;
beforeAll(async () => {
  opened = await openVectorStore();
});
afterAll(() => opened?.close());

let made = 0;
vectorIndexContract('pgvector', (dimension) =>
  PgvectorIndex.open(opened.db, { table: `vectors_${made++}`, dimension }),
);

test('[VEC-6] nearly all of the nearest of a thousand are found through the HNSW index', async () => {
  const index = await PgvectorIndex.open(opened.db, { table: 'many', dimension: 16 });
  const random = createRandom(1);
  const vector = () => normalise(Float32Array.from({ length: 16 }, () => random.normal()));
  const vectors = Array.from({ length: 1_000 }, (_, i) => [`${i}`, vector()] as const);
  for (let at = 0; at < vectors.length; at += 500) await index.setAll(vectors.slice(at, at + 500));
  await sql`analyze many`.execute(opened.db);
  let found = 0;
  for (let nth = 0; nth < 20; nth++) {
    const query = vector();
    const dot = (one: Float32Array) => one.reduce((sum, x, i) => sum + x * query[i]!, 0);
    const right = vectors.toSorted((a, b) => dot(b[1]) - dot(a[1])).slice(0, 10);
    const nearest = await index.nearest(query, 10);
    found += right.filter(([id]) => nearest.some((one) => one.id === id)).length;
  }
  expect(found / 200).toBeGreaterThan(0.9);
});

test('[VEC-6] runs beyond those in memory are recalled by intent, once the index exists', async () => {
  const { store } = opened;
  const turned = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
  const traces = Array.from({ length: 40 }, (_, i) =>
    sampleTrace({ intentEmbedding: turned(i / 20), embeddingModel: 'two', intentText: `work ${i}` }),
  );
  await store.traces.appendAll(traces);
  const near = (angle: number, beyond = 10) => store.traces.near('two', turned(angle), 3, beyond);
  // The first request creates it, without waiting for it.
  expect(await near(0.5)).toEqual([]);
  await expect.poll(async () => (await near(0.5)).length).toBe(3);
  const [nearest] = await near(0.5);
  expect(['work 9', 'work 10', 'work 11']).toContain(nearest!.intentText);
  expect(nearest!.intent).toHaveLength(2);
  // The ten newest are left out: the caller knows them.
  expect(await near(1.95)).toEqual([]);
  const late = sampleTrace({ intentEmbedding: null, embeddingModel: null, intentText: 'late' });
  await store.traces.append(late);
  await store.traces.setIntentEmbedding(late.id, 'two', turned(3));
  expect((await near(3, 0)).map(({ intentText }) => intentText)).toContain('late');
  await store.traces.remove([late.id]);
  expect((await near(3, 0)).map(({ intentText }) => intentText)).not.toContain('late');
});

test('[VEC-6] all runs enter the index, however many', async () => {
  const { store } = opened;
  const turned = (nth: number) => Float32Array.of(Math.cos(nth / 200), Math.sin(nth / 200), 0);
  for (let first = 0; first < 450; first += 150) {
    await store.traces.appendAll(
      Array.from({ length: 150 }, (_, i) =>
        sampleTrace({
          intentEmbedding: turned(first + i),
          embeddingModel: 'three',
          intentText: `${first + i}`,
        }),
      ),
    );
  }
  // A new one, because each checks only now and then whether the index is worthwhile.
  const later = createSqlStore(opened.db);
  const near = (nth: number) => later.traces.near('three', turned(nth), 1, 10);
  await expect.poll(async () => (await near(0)).length).toBe(1);
  for (const nth of [0, 100, 225, 350, 435]) expect((await near(nth))[0]?.intentText).toBe(`${nth}`);
});
