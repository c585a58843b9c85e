import { expect, test } from 'vitest';
import { TransformersEmbedder, type TransformersModule } from './transformers-embedder.ts';

/** Answers each text with a vector that tells its length, and notes how it was asked. */
function standIn() {
  const asked: unknown[] = [];
  const module: TransformersModule = {
    async pipeline(task, model) {
      asked.push([task, model]);
      const extract = async (texts: string[], options: object) => {
        asked.push([texts.length, options]);
        const data = Float32Array.from(texts.flatMap((text) => [text.length, 1, 0]));
        return { data, dims: [texts.length, 3] };
      };
      return Object.assign(extract, { dispose: async () => asked.push('disposed') });
    },
  };
  return { module, asked };
}

test('[EMB-18] without the package, the error says how to install it', async () => {
  const embedder = new TransformersEmbedder('Xenova/bge-m3');
  await expect(embedder.embed(['text'])).rejects.toMatchObject({
    code: 'embedding_unavailable',
    message: '@huggingface/transformers is not installed',
    hint: expect.stringContaining('npm install @huggingface/transformers'),
  });
});

test('[EMB-8] texts go through the package in batches and come back as unit vectors, in order', async () => {
  const { module, asked } = standIn();
  const embedder = new TransformersEmbedder('someone/some-model', async () => module);
  expect(() => embedder.dimension).toThrow('known only after a text has been embedded');
  const texts = Array.from({ length: 20 }, (_, i) => 'x'.repeat(i));
  const vectors = await embedder.embed(texts);
  for (const [i, vector] of vectors.entries()) {
    expect(vector[0]! / vector[1]!).toBeCloseTo(i, 4);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  }
  expect(vectors).toHaveLength(20);
  expect(embedder.dimension).toBe(3);
  await embedder.close();
  const options = { pooling: 'mean', normalize: true };
  expect(asked).toEqual([
    ['feature-extraction', 'someone/some-model'],
    [16, options],
    [4, options],
    'disposed',
  ]);
});

test('[EMB-8] BGE models are pooled by their first token', async () => {
  const { module, asked } = standIn();
  await new TransformersEmbedder('Xenova/bge-m3', async () => module).embed(['text']);
  expect(asked[1]).toEqual([1, { pooling: 'cls', normalize: true }]);
});

test('[EMB-8] a model that cannot be loaded is named, and the next text tries again', async () => {
  const { module } = standIn();
  let fails = true;
  const embedder = new TransformersEmbedder('someone/some-model', async () => {
    if (fails) throw new Error('404');
    return module;
  });
  await expect(embedder.embed(['text'])).rejects.toMatchObject({
    code: 'embedding_unavailable',
    message: expect.stringContaining('someone/some-model'),
  });
  fails = false;
  expect(await embedder.embed(['text'])).toHaveLength(1);
});
