import { expect, test } from 'vitest';
import { createMemoryEmbedder } from './embedder.ts';

test('[EMB-2] the twin of the models gives unit vectors too, the same each time, nearer the more words are shared', async () => {
  const embedder = createMemoryEmbedder();
  const texts = ['read a file', 'Read a FILE!', 'read a book', 'cake', '', '東京 🚀'];
  const vectors = await embedder.embed(texts);
  expect(await embedder.embed(texts)).toEqual(vectors);
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  const cosine = (i: number, j: number) => vectors[i]!.reduce((sum, x, at) => sum + x * vectors[j]![at]!, 0);
  expect(cosine(0, 1)).toBeCloseTo(1, 6);
  expect(cosine(0, 2)).toBeCloseTo(2 / 3, 6);
  expect(cosine(0, 3)).toBe(0);
});
