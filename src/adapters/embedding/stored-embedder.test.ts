import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import type { Embedder } from '../../engine/ports.ts';
import { StoredEmbedder } from './stored-embedder.ts';

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

test('[EMB-14] vectors of two models are kept apart, and callers cannot change stored vectors', async () => {
  const folder = await temporaryDir();
  const [one, other] = [noting(64), noting(128)];
  const stored = new StoredEmbedder(one.model, folder);
  (await stored.embed(['a']))[0]!.fill(7);
  expect(await stored.embed(['a'])).toEqual(await one.inner.embed(['a']));
  expect(await new StoredEmbedder(other.model, folder).embed(['a'])).toEqual(await other.inner.embed(['a']));
  expect([one.asked, other.asked]).toEqual([['a'], ['a']]);
});

test('[EMB-19] a damaged file or a read-only folder costs time but no answer', async () => {
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
