import type { Embedder, EmbeddingSettings } from '../../engine/ports.ts';
import { CachedEmbedder } from './cached-embedder.ts';
import { MiniLmEmbedder } from './minilm-embedder.ts';
import { OpenAiEmbedder } from './openai-embedder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

/** The configured model behind a cache. Nothing is loaded or reached before the first text. */
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
