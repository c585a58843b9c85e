export interface Embedder {
  /** Stored beside each vector; vectors of two models are never compared. */
  readonly model: string;
  readonly dimension: number;
  /** Unit vectors, one per text, in order. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}
