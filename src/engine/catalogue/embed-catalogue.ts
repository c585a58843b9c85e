import { LRUCache } from 'lru-cache';
import { toolText } from '../../core/retrieval/words.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Background } from '../background.ts';
import type { Embedder, Store, ToolEmbedding } from '../ports.ts';

const DEFAULTS = {
  /** Definitions embedded and stored at a time: what is lost when the process ends meanwhile. */
  batch: 64,
  /** Texts whose vectors are kept; the least recently asked for goes first. */
  remembered: 2_000,
};

interface EmbeddingRounds {
  readonly ports: { readonly store: EmbedCatalogueOptions['store']; readonly embedder: Embedder };
  readonly background: Background;
  readonly onEmbedded: (embeddings: readonly ToolEmbedding[]) => void;
  /** Told how many got a vector, after each round that gave one to any. */
  readonly onRound: (embedded: number) => Promise<void>;
}

/** Embeds what has no vector yet. */
export interface CatalogueEmbedding {
  start(): void;
  /** Resolves when what was started is done, or has failed. */
  done(): Promise<void>;
}

/** One round at a time: tools that come meanwhile are embedded by one more, not by a second one beside it. */
export function embedInRounds({
  ports,
  background,
  onEmbedded,
  onRound,
}: EmbeddingRounds): CatalogueEmbedding {
  const { store, embedder } = ports;
  let underWay: PromiseWithResolvers<void> | null = null;
  let isAsked = false;
  return {
    start() {
      isAsked = true;
      if (underWay) return;
      const work = Promise.withResolvers<void>();
      underWay = work;
      background.run('Embedding tool definitions', async (signal) => {
        try {
          while (isAsked) {
            isAsked = false;
            const { embedded } = await embedCatalogue({ store, embedder, signal, onEmbedded });
            if (embedded > 0) await onRound(embedded);
          }
        } finally {
          underWay = null;
          work.resolve();
        }
      });
    },
    done: async () => await underWay?.promise,
  };
}

interface EmbedCatalogueOptions {
  readonly store: Pick<Store, 'tools' | 'embeddings'>;
  readonly embedder: Embedder;
  /** Given what each batch has added to the store. */
  readonly onEmbedded?: (embeddings: readonly ToolEmbedding[]) => void;
  /** Told after each batch. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  readonly signal?: AbortSignal;
}

interface EmbedCatalogueResult {
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
  const { store, embedder, onEmbedded, onProgress, signal } = options;
  const [tools, stored] = await Promise.all([store.tools.list(), store.embeddings.list(embedder.model)]);
  const hashes = new Map(stored.map(({ toolId, definitionHash }) => [toolId, definitionHash]));
  const due = tools.filter(({ id, definitionHash }) => hashes.get(id) !== definitionHash);
  let embedded = 0;
  for (let first = 0; first < due.length; first += DEFAULTS.batch) {
    signal?.throwIfAborted();
    const batch = due.slice(first, first + DEFAULTS.batch);
    const embeddings = await embedBatch(store, embedder, batch);
    embedded += embeddings.length;
    onEmbedded?.(embeddings);
    onProgress?.({ done: first + batch.length, total: due.length });
  }
  return { embedded, unchanged: tools.length - due.length };
}

/** Tools that went or changed while their batch was embedded are left to the next time. */
async function embedBatch(
  store: EmbedCatalogueOptions['store'],
  embedder: Embedder,
  batch: readonly ToolDefinition[],
): Promise<ToolEmbedding[]> {
  const vectors = await embedder.embed(batch.map(toolText));
  const present = await Promise.all(batch.map(({ id }) => store.tools.get(id)));
  const embeddings = batch.flatMap(({ id, definitionHash }, i) =>
    present[i]?.definitionHash === definitionHash
      ? [{ toolId: id, model: embedder.model, definitionHash, vector: vectors[i]! }]
      : [],
  );
  if (embeddings.length > 0) await store.embeddings.put(embeddings);
  return embeddings;
}

/** Embeds the same text once, however often it is asked for: for texts that come again, not for queries. */
export function rememberingEmbedder(embedder: Embedder, size = DEFAULTS.remembered): Pick<Embedder, 'embed'> {
  const known = new LRUCache<string, Float32Array>({ max: size });
  return {
    async embed(texts) {
      const missing = [...new Set(texts.filter((text) => !known.has(text)))];
      const made = missing.length === 0 ? [] : await embedder.embed(missing);
      const fresh = new Map(missing.map((text, i) => [text, made[i]!]));
      const vectors = texts.map((text) => known.get(text) ?? fresh.get(text)!);
      for (const [text, vector] of fresh) known.set(text, vector);
      return vectors;
    },
  };
}
