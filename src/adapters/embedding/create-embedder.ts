import { LRUCache } from 'lru-cache';
import type { Embedder, EmbeddingSettings } from '../../engine/ports.ts';
import { MiniLmEmbedder } from './minilm-embedder.ts';
import { OpenAiEmbedder } from './openai-embedder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const DEFAULTS = {
  /** Texts: queries of many sessions and their clauses; 1.5 MB with MiniLM, 4 MB at 1024 dimensions. */
  entries: 1024,
};

/** The configured model behind a cache. Nothing is loaded or contacted before the first text. */
export function createEmbedder(settings: EmbeddingSettings): Embedder {
  return new CachedEmbedder(modelOf(settings));
}

function modelOf(settings: EmbeddingSettings): Embedder {
  switch (settings.kind) {
    case 'minilm':
      return new MiniLmEmbedder();
    case 'transformers':
      return new TransformersEmbedder(settings.model);
    case 'openai':
      return new OpenAiEmbedder(settings);
  }
}

/**
 * Caches the vectors of recently used texts. Concurrent callers share one request per text; failures are not
 * cached.
 */
export class CachedEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #cache: LRUCache<string, Promise<Float32Array>>;

  constructor(inner: Embedder, entries: number = DEFAULTS.entries) {
    this.#inner = inner;
    this.#cache = new LRUCache({ max: entries });
  }

  get model(): string {
    return this.#inner.model;
  }

  get dimension(): number {
    return this.#inner.dimension;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const distinct = [...new Set(texts)];
    const known = new Map(distinct.map((text) => [text, this.#cache.get(text)]));
    const missing = distinct.filter((text) => known.get(text) === undefined);
    for (const [text, vector] of this.#request(missing)) known.set(text, vector);
    const vectors = await Promise.all(texts.map((text) => known.get(text)!));
    // Copies, because a caller may modify its vectors.
    return vectors.map((vector) => vector.slice());
  }

  async close(): Promise<void> {
    this.#cache.clear();
    await this.#inner.close();
  }

  /** One request for all texts; each text's vector is cached separately. */
  #request(texts: readonly string[]): [string, Promise<Float32Array>][] {
    if (texts.length === 0) return [];
    const batch = this.#inner.embed(texts);
    return texts.map((text, i) => {
      const vector = batch.then((vectors) => vectors[i]!);
      this.#cache.set(text, vector);
      vector.catch(() => {
        if (this.#cache.peek(text) === vector) this.#cache.delete(text);
      });
      return [text, vector];
    });
  }
}
