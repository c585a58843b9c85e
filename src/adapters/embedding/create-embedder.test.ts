import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import type { Embedder } from '../../engine/ports.ts';
import { CachedEmbedder, createEmbedder } from './create-embedder.ts';

/** Runs a module in a process of its own; what it prints. */
function printed(code: string): string {
  const module = new URL('./create-embedder.ts', import.meta.url);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `import { createEmbedder } from '${module}';\n${code}`],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

describe('createEmbedder', () => {
  test('[EMB-4] loads nothing before the first text', () => {
    const output = printed(`
      process.on('worker', () => console.log('started'));
      const embedder = createEmbedder({ kind: 'minilm' });
      await new Promise(setImmediate);
      console.log(embedder.model, embedder.dimension);
      await embedder.embed(['text']);
      await embedder.close();
    `);
    expect(output).toBe('all-MiniLM-L6-v2/uint8 384\nstarted');
  });

  test('[EMB-4] does not keep the process alive once it is idle', () => {
    const output = printed(`
      const [vector] = await createEmbedder({ kind: 'minilm' }).embed(['text']);
      console.log(vector.length);
    `);
    expect(output).toBe('384');
  });

  test('[EMB-9] takes an endpoint as it is configured', () => {
    const embedder = createEmbedder({
      kind: 'openai',
      url: 'http://localhost:1/v1',
      model: 'some-model',
      dimension: 1536,
      apiKey: null,
    });
    expect(embedder).toMatchObject({ model: 'openai/some-model', dimension: 1536 });
  });

  test('[EMB-8] takes a model of the Hugging Face hub', () => {
    const embedder = createEmbedder({ kind: 'transformers', model: 'Xenova/bge-m3' });
    expect(embedder).toMatchObject({ model: 'transformers/Xenova/bge-m3', dimension: 1024 });
  });
});

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

test('[EMB-16] a failure is not remembered', async () => {
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

test('[EMB-17] writing into a vector does not change what others get', async () => {
  const inner = createMemoryEmbedder();
  const cached = new CachedEmbedder(inner);
  const [mine] = await cached.embed(['a']);
  mine!.fill(0);
  expect(await cached.embed(['a'])).toEqual(await inner.embed(['a']));
});
