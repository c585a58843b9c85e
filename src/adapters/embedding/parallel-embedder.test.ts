import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { ParallelEmbedder } from './parallel-embedder.ts';

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
