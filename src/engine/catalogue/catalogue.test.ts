import { describe, expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { createMemoryVectorIndex } from '../../../test/memory/vector-index.ts';
import { sampleTool } from '../../../test/support/samples.ts';
import { settingsFor } from '../../../test/support/settings-for.ts';
import { toolText } from '../../core/retrieval/words.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Embedder, ToolEmbedding } from '../ports.ts';
import { readCatalogue } from './catalogue.ts';
import { embedCatalogue } from './embed-catalogue.ts';
import { search } from './search.ts';

/** An embedder that notes what it was given, and may do something meanwhile. */
function noting(meanwhile: () => Promise<void> = async () => {}, dimension?: number) {
  const inner = createMemoryEmbedder(dimension);
  const texts: string[] = [];
  const embedder: Embedder = {
    ...inner,
    embed: async (batch) => {
      texts.push(...batch);
      await meanwhile();
      return await inner.embed(batch);
    },
  };
  return { embedder, texts };
}

async function storeWith(tools: readonly ToolDefinition[]) {
  const store = createMemoryStore();
  await store.tools.put(tools);
  return store;
}

describe('embedCatalogue', () => {
  test('[EMB-11] embeds every tool once, and nothing at the next start', async () => {
    const tools = [sampleTool(), sampleTool(), sampleTool()];
    const store = await storeWith(tools);
    const { embedder, texts } = noting();
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 3, unchanged: 0 });
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 0, unchanged: 3 });
    expect(texts.sort()).toEqual(tools.map(toolText).sort());

    const stored = await store.embeddings.list(embedder.model);
    const vectors = new Map(stored.map(({ toolId, vector }) => [toolId, vector]));
    for (const tool of tools) {
      const [vector] = await embedder.embed([toolText(tool)]);
      expect(vectors.get(tool.id)).toEqual(vector);
    }
  });

  test('[EMB-11] a changed definition and a new tool are embedded, the rest stays', async () => {
    const [kept, changed] = [sampleTool(), sampleTool()];
    const store = await storeWith([kept, changed]);
    const { embedder, texts } = noting();
    await embedCatalogue({ store, embedder });
    texts.length = 0;
    const now = { ...changed, description: 'Something else', definitionHash: 'another' };
    const added = sampleTool();
    await store.tools.put([now, added]);
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 2, unchanged: 1 });
    expect(texts.sort()).toEqual([toolText(now), toolText(added)].sort());
  });

  test('[EMB-11] another model embeds everything, and the vectors of the first stay', async () => {
    const store = await storeWith([sampleTool(), sampleTool()]);
    const [first, second] = [noting().embedder, noting(undefined, 64).embedder];
    await embedCatalogue({ store, embedder: first });
    expect(await embedCatalogue({ store, embedder: second })).toEqual({ embedded: 2, unchanged: 0 });
    expect(await store.embeddings.list(first.model)).toHaveLength(2);
  });

  test('[EMB-11] a tool that is removed or changed meanwhile is left for the next time', async () => {
    const [stays, goes, changes] = [sampleTool(), sampleTool(), sampleTool()];
    const store = await storeWith([stays, goes, changes]);
    const { embedder } = noting(async () => {
      await store.tools.remove([goes.id]);
      await store.tools.put([{ ...changes, definitionHash: 'newer' }]);
    });
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 1, unchanged: 0 });
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 1, unchanged: 1 });
  });

  test('[EMB-20] each batch of another model is available as soon as it is ready, and search needs no more', async () => {
    const store = await storeWith(Array.from({ length: 70 }, () => sampleTool()));
    const [first, second] = [noting().embedder, noting(undefined, 64).embedder];
    await embedCatalogue({ store, embedder: first });
    const settings = settingsFor([...new Set((await store.tools.list()).map(({ server }) => server))]);
    const emptyIndex = () => createMemoryVectorIndex(second.dimension);
    const catalogue = await readCatalogue(store, settings, second.model, emptyIndex);
    const query = { query: catalogue.tools[0]!.name, limit: 50 };
    expect(await search(catalogue, second, query)).not.toHaveLength(0);
    const sizes: number[] = [];
    const onEmbedded = (embeddings: readonly ToolEmbedding[]) => {
      for (const { toolId, vector } of embeddings) catalogue.vectors.set(toolId, vector);
      sizes.push(catalogue.vectors.size);
    };
    await embedCatalogue({ store, embedder: second, onEmbedded });
    expect(sizes).toEqual([64, 70]);
    expect(await search(catalogue, second, query)).not.toHaveLength(0);
    expect(await store.embeddings.list(first.model)).toHaveLength(70);
  });

  test('[EMB-12] reports its progress, and keeps finished work when it is stopped', async () => {
    const store = await storeWith(Array.from({ length: 150 }, () => sampleTool()));
    const { embedder } = noting();
    const stop = new AbortController();
    const progress: unknown[] = [];
    const stopped = embedCatalogue({
      store,
      embedder,
      signal: stop.signal,
      onProgress: (step) => {
        progress.push(step);
        if (step.done > 100) stop.abort(new Error('enough'));
      },
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(progress).toEqual([
      { done: 64, total: 150 },
      { done: 128, total: 150 },
    ]);
    expect(await embedCatalogue({ store, embedder })).toEqual({ embedded: 22, unchanged: 128 });
  });
});
