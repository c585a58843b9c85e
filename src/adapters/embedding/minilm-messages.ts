import type { WasmMemory } from '../../core/numeric/matrices.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';

/** The form of all-MiniLM-L6-v2 (Wang et al., 2020): a BERT encoder, trained on at most 256 tokens. */
export const MINILM = {
  layers: 6,
  hidden: 384,
  heads: 12,
  headSize: 32,
  intermediate: 1536,
  vocabulary: 30_522,
  positions: 512,
  maxTokens: 256,
  epsilon: 1e-12,
} as const;

/** What a worker starts with: the first thread fills the memory, the others find the weights in it. */
export interface MiniLmWorkerData {
  readonly memory: WasmMemory;
  readonly thread: number;
}

/** To the worker: embed these texts. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** From the worker: the vectors end to end, or the error. */
export type EmbedReply =
  | { readonly id: number; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly id: number; readonly error: ErrorShape };
