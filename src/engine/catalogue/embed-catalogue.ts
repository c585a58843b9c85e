import { toolText } from '../../core/retrieval/tool-text.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Embedder, Store } from '../ports.ts';

const DEFAULTS = {
  /** Definitions embedded and stored at a time: what is lost when the process ends meanwhile. */
  batch: 64,
};

export interface EmbedCatalogueOptions {
  readonly store: Pick<Store, 'tools' | 'embeddings'>;
  readonly embedder: Embedder;
  /** Told after each batch. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  readonly signal?: AbortSignal;
}

export interface EmbedCatalogueResult {
  /** Definitions that got a vector now. */
  readonly embedded: number;
  /** Definitions whose stored vector still holds. */
  readonly unchanged: number;
}

/**
 * Gives every tool in the store a vector of this model, and embeds only where there is none yet for
 * the definition as it is: new tools, changed definitions, another model.
 */
export async function embedCatalogue(options: EmbedCatalogueOptions): Promise<EmbedCatalogueResult> {
  const { store, embedder, onProgress, signal } = options;
  const [tools, stored] = await Promise.all([store.tools.list(), store.embeddings.list(embedder.model)]);
  const hashes = new Map(stored.map(({ toolId, definitionHash }) => [toolId, definitionHash]));
  const due = tools.filter(({ id, definitionHash }) => hashes.get(id) !== definitionHash);
  let embedded = 0;
  for (let first = 0; first < due.length; first += DEFAULTS.batch) {
    signal?.throwIfAborted();
    const batch = due.slice(first, first + DEFAULTS.batch);
    embedded += await embedBatch(store, embedder, batch);
    onProgress?.({ done: first + batch.length, total: due.length });
  }
  return { embedded, unchanged: tools.length - due.length };
}

/** Tools that went or changed while their batch was embedded are left to the next time. */
async function embedBatch(
  store: EmbedCatalogueOptions['store'],
  embedder: Embedder,
  batch: readonly ToolDefinition[],
): Promise<number> {
  const vectors = await embedder.embed(batch.map(toolText));
  const present = await Promise.all(batch.map(({ id }) => store.tools.get(id)));
  const embeddings = batch.flatMap(({ id, definitionHash }, i) =>
    present[i]?.definitionHash === definitionHash
      ? [{ toolId: id, model: embedder.model, definitionHash, vector: vectors[i]! }]
      : [],
  );
  if (embeddings.length > 0) await store.embeddings.put(embeddings);
  return embeddings.length;
}
