import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';

/** To the worker: embed these texts. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** From the worker: the vectors laid end to end, or why there are none. */
export type EmbedReply =
  | { readonly id: number; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly id: number; readonly error: ErrorShape };
