import type { Embedder } from '../ports.ts';

const DEFAULTS = {
  /** Texts whose vectors are kept; the least recently asked for goes first. */
  size: 2_000,
};

/** Embeds the same text once, however often it is asked for: for texts that come again, not for queries. */
export function rememberingEmbedder(embedder: Embedder, size = DEFAULTS.size): Pick<Embedder, 'embed'> {
  const known = new Map<string, Float32Array>();
  return {
    async embed(texts) {
      const missing = [...new Set(texts.filter((text) => !known.has(text)))];
      const made = missing.length === 0 ? [] : await embedder.embed(missing);
      const fresh = new Map(missing.map((text, i) => [text, made[i]!]));
      const vectors = texts.map((text) => known.get(text) ?? fresh.get(text)!);
      for (const [i, text] of texts.entries()) {
        known.delete(text);
        known.set(text, vectors[i]!);
      }
      for (const text of known.keys()) {
        if (known.size <= size) break;
        known.delete(text);
      }
      return vectors;
    },
  };
}
