import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { rememberingEmbedder } from './embed-catalogue.ts';

test('[CAP-21] a repeated text is not embedded again while it is remembered', async () => {
  const embedder = createMemoryEmbedder();
  const asked: string[] = [];
  const watched = {
    ...embedder,
    embed: (texts: readonly string[]) => {
      asked.push(...texts);
      return embedder.embed(texts);
    },
  };
  const remembering = rememberingEmbedder(watched, 2);
  const [a, b, again] = await remembering.embed(['a', 'b', 'a']);
  expect([a, b, again]).toEqual(await embedder.embed(['a', 'b', 'a']));
  await remembering.embed(['b', 'c']);
  await remembering.embed(['c', 'a']);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
