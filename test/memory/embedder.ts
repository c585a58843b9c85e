import { normalise } from '../../src/core/numeric/matrices.ts';
import type { Embedder } from '../../src/engine/ports.ts';

/**
 * A model that only knows which words two texts share: each word adds 1 to one of the dimensions,
 * chosen by its hash (feature hashing, Weinberger et al., 2009). A text without words points along the first.
 */
export function createMemoryEmbedder(dimension = 256): Embedder {
  return {
    model: `words/${dimension}`,
    dimension,
    embed: async (texts) => texts.map((text) => bagOfWords(text, dimension)),
    close: async () => {},
  };
}

function bagOfWords(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) vector[hash(word) % dimension]! += 1;
  if (words.length === 0) vector[0] = 1;
  return normalise(vector);
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
