import type { Embedder } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Texts handed over at a time: few enough that all end at about the same moment. */
  chunk: 16,
};

/** Several instances of one model side by side: a large request is shared out as each becomes free. */
export class ParallelEmbedder implements Embedder {
  readonly #models: readonly [Embedder, ...Embedder[]];

  constructor(...models: [Embedder, ...Embedder[]]) {
    this.#models = models;
  }

  get model(): string {
    return this.#models[0].model;
  }

  get dimension(): number {
    return this.#models[0].dimension;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(texts.length);
    let next = 0;
    const work = async (model: Embedder) => {
      while (next < texts.length) {
        const first = next;
        next += DEFAULTS.chunk;
        const chunk = await model.embed(texts.slice(first, next));
        for (const [i, vector] of chunk.entries()) vectors[first + i] = vector;
      }
    };
    await Promise.all(this.#models.map(work));
    return vectors;
  }

  async close(): Promise<void> {
    await Promise.all(this.#models.map((model) => model.close()));
  }
}
