import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';

/** all-MiniLM-L6-v2 (Wang et al., 2020): a BERT encoder, trained on at most 256 tokens. */
export const MINILM = {
  layers: 6,
  hidden: 384,
  heads: 12,
  headSize: 32,
  intermediate: 1536,
  maxTokens: 256,
  epsilon: 1e-12,
} as const;

/** To the worker: embed these texts. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** From the worker: the vectors laid end to end, or why there are none. */
export type EmbedReply =
  | { readonly id: number; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly id: number; readonly error: ErrorShape };
