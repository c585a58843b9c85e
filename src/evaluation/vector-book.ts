import type { Embedder } from '../engine/ports.ts';

const DEFAULTS = {
  /** Texts asked for at a time: after each, progress is told. */
  batch: 256,
};

/** Told how many of a number of texts have been embedded. */
export type Progress = (done: number, total: number) => void;

/** An embedder that is given its texts beforehand, many at a time, and then answers at once. */
export class VectorBook implements Embedder {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get model(): string {
    return this.#embedder.model;
  }

  get dimension(): number {
    return this.#embedder.dimension;
  }

  async learn(texts: Iterable<string>, onProgress: Progress = () => {}): Promise<void> {
    const unknown = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    for (let first = 0; first < unknown.length; first += DEFAULTS.batch) {
      const batch = unknown.slice(first, first + DEFAULTS.batch);
      const vectors = await this.#embedder.embed(batch);
      for (const [i, text] of batch.entries()) this.#vectors.set(text, vectors[i]!);
      onProgress(first + batch.length, unknown.length);
    }
  }

  /** Of a text that was learned. */
  of(text: string): Float32Array {
    return this.#vectors.get(text)!;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    await this.learn(texts);
    return texts.map((text) => this.of(text));
  }

  async close(): Promise<void> {
    await this.#embedder.close();
  }
}
