import { LRUCache } from 'lru-cache';
import type { Embedder } from '../ports.ts';

const DEFAULTS = {
  /** Texts whose vectors are kept; the least recently asked for goes first. */
  size: 2_000,
};

/** Embeds the same text once, however often it is asked for: for texts that come again, not for queries. */
export function rememberingEmbedder(embedder: Embedder, size = DEFAULTS.size): Pick<Embedder, 'embed'> {
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
