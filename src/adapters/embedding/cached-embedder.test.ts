import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import type { Embedder } from '../../engine/ports.ts';
import { CachedEmbedder } from './cached-embedder.ts';

/** Notes every request that reaches the model. */
function noting(inner: Embedder) {
  const requests: string[][] = [];
  const model: Embedder = {
    ...inner,
    embed: (texts) => {
      requests.push([...texts]);
      return inner.embed(texts);
    },
  };
  return { model, requests };
}

test('[EMB-7] a text used lately is not embedded again, alone or among others, twice in one call or at the same time', async () => {
  const inner = createMemoryEmbedder();
  const { model, requests } = noting(inner);
  const cached = new CachedEmbedder(model);
  await Promise.all([cached.embed(['a', 'b']), cached.embed(['b', 'c', 'c'])]);
  const texts = ['c', 'd', 'a', 'd'];
  expect(await cached.embed(texts)).toEqual(await inner.embed(texts));
  expect(requests).toEqual([['a', 'b'], ['c'], ['d']]);
  expect(cached).toMatchObject({ model: inner.model, dimension: inner.dimension });
});

test('[EMB-7] the text that was not used for longest is forgotten first', async () => {
  const { model, requests } = noting(createMemoryEmbedder());
  const cached = new CachedEmbedder(model, 2);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cached.embed([text]);
  expect(requests.flat()).toEqual(['a', 'b', 'c', 'b']);
});

test('[EMB-7] a request larger than the cache is answered whole', async () => {
  const inner = createMemoryEmbedder();
  const texts = ['a', 'b', 'c', 'd', 'e'];
  expect(await new CachedEmbedder(inner, 2).embed(texts)).toEqual(await inner.embed(texts));
});

test('[EMB-7] a failure is not remembered', async () => {
  const inner = createMemoryEmbedder();
  let fails = true;
  const cached = new CachedEmbedder({
    ...inner,
    embed: async (texts) => {
      if (fails) throw new Error('out of reach');
      return await inner.embed(texts);
    },
  });
  await expect(cached.embed(['a', 'b'])).rejects.toThrow('out of reach');
  fails = false;
  expect(await cached.embed(['a'])).toEqual(await inner.embed(['a']));
});

test('[EMB-7] writing into a vector does not change what others get', async () => {
  const inner = createMemoryEmbedder();
  const cached = new CachedEmbedder(inner);
  const [mine] = await cached.embed(['a']);
  mine!.fill(0);
  expect(await cached.embed(['a'])).toEqual(await inner.embed(['a']));
});
