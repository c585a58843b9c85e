import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import type { Embedder } from '../../engine/ports.ts';
import { ParallelEmbedder, StoredEmbedder } from './stored-embedder.ts';

function noting(dimension?: number) {
  const inner = createMemoryEmbedder(dimension);
  const asked: string[] = [];
  const model: Embedder = {
    ...inner,
    embed: (texts) => {
      asked.push(...texts);
      return inner.embed(texts);
    },
  };
  return { inner, model, asked };
}

test('[EMB-14] a text that another process embedded is not embedded again', async () => {
  const folder = await temporaryDir();
  const { inner, model, asked } = noting();
  await new StoredEmbedder(model, folder).embed(['a', 'b', 'a']);
  const texts = ['b', 'c', 'a'];
  const later = new StoredEmbedder(model, folder);
  expect(await later.embed(texts)).toEqual(await inner.embed(texts));
  expect(await later.embed(texts)).toEqual(await inner.embed(texts));
  expect(asked).toEqual(['a', 'b', 'c']);
  expect(later).toMatchObject({ model: inner.model, dimension: inner.dimension });
});

test('[EMB-14] vectors of two models are kept apart, and nobody can change them', async () => {
  const folder = await temporaryDir();
  const [one, other] = [noting(64), noting(128)];
  const stored = new StoredEmbedder(one.model, folder);
  (await stored.embed(['a']))[0]!.fill(7);
  expect(await stored.embed(['a'])).toEqual(await one.inner.embed(['a']));
  expect(await new StoredEmbedder(other.model, folder).embed(['a'])).toEqual(await other.inner.embed(['a']));
  expect([one.asked, other.asked]).toEqual([['a'], ['a']]);
});

test('[EMB-19] a file that is damaged, or a folder that cannot be written, costs time and no answer', async () => {
  const folder = await temporaryDir();
  const { inner, model, asked } = noting();
  await new StoredEmbedder(model, folder).embed(['a']);
  const [sub] = await readdir(folder);
  const [file] = await readdir(join(folder, sub!));
  await truncate(join(folder, sub!, file!), 100);
  await writeFile(join(folder, sub!, 'x.vectors'), '');
  expect(await new StoredEmbedder(model, folder).embed(['a'])).toEqual(await inner.embed(['a']));
  await writeFile(join(folder, 'file'), '');
  const nowhere = new StoredEmbedder(model, join(folder, 'file'));
  expect(await nowhere.embed(['a'])).toEqual(await inner.embed(['a']));
  expect(asked).toEqual(['a', 'a', 'a']);
});

test('[EMB-15] a large request is shared among models, and answered in order', async () => {
  const inner = createMemoryEmbedder();
  const shares = [0, 0];
  const closed: number[] = [];
  const models = shares.map((_, i) => ({
    ...inner,
    embed: async (texts: readonly string[]) => {
      shares[i]! += texts.length;
      if (i === 1) await new Promise((resolve) => setTimeout(resolve, 1));
      return await inner.embed(texts);
    },
    close: async () => void closed.push(i),
  }));
  const parallel = new ParallelEmbedder(models[0]!, models[1]!);
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  expect(await parallel.embed(texts)).toEqual(await inner.embed(texts));
  expect(shares[0]! + shares[1]!).toBe(100);
  expect(Math.min(...shares)).toBeGreaterThan(0);
  expect(await parallel.embed([])).toEqual([]);
  expect(parallel).toMatchObject({ model: inner.model, dimension: inner.dimension });
  await parallel.close();
  expect(closed).toEqual([0, 1]);
});
