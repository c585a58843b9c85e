import { normalise } from '../../core/numeric/matrices.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Embedder } from '../../engine/ports.ts';

const PACKAGE = '@huggingface/transformers';

const DEFAULTS = {
  /** Texts per forward pass; a batch is padded to its longest text. */
  batch: 16,
  /** Dimensions known before the model is loaded; for other models the first result shows it. */
  dimensions: new Map([
    ['Xenova/bge-m3', 1024],
    ['onnx-community/bge-m3-ONNX', 1024],
    ['BAAI/bge-m3', 1024],
    ['Xenova/all-MiniLM-L6-v2', 384],
    ['onnx-community/all-MiniLM-L6-v2-ONNX', 384],
    ['Xenova/bge-small-en-v1.5', 384],
    ['Xenova/bge-base-en-v1.5', 768],
    ['Xenova/bge-large-en-v1.5', 1024],
    ['Xenova/multilingual-e5-small', 384],
  ]),
};

/** The part of @huggingface/transformers used here; the user installs the package. */
export interface TransformersModule {
  pipeline(task: 'feature-extraction', model: string): Promise<FeatureExtraction>;
}

interface FeatureExtraction {
  (
    texts: string[],
    options: { pooling: 'mean' | 'cls'; normalize: boolean },
  ): Promise<{ readonly data: ArrayLike<number>; readonly dims: readonly number[] }>;
  dispose(): Promise<unknown>;
}

/** Any embedding model that `@huggingface/transformers` can run, for example BGE-M3. */
export class TransformersEmbedder implements Embedder {
  readonly model: string;
  readonly #name: string;
  readonly #importModule: () => Promise<TransformersModule>;
  #dimension: number | undefined;
  #pipeline: Promise<FeatureExtraction> | undefined;

  constructor(name: string, importModule = importTransformers) {
    this.model = `transformers/${name}`;
    this.#name = name;
    this.#importModule = importModule;
    this.#dimension = DEFAULTS.dimensions.get(name);
  }

  get dimension(): number {
    if (this.#dimension !== undefined) return this.#dimension;
    throw new PmlError(
      'embedding_unavailable',
      `The dimension of ${this.#name} is known only after a text has been embedded`,
    );
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (texts.length === 0) return [];
    this.#pipeline ??= this.#load();
    const extract = await this.#pipeline;
    const vectors: Float32Array[] = [];
    for (let first = 0; first < texts.length; first += DEFAULTS.batch) {
      const batch = texts.slice(first, first + DEFAULTS.batch);
      const { data, dims } = await extract(batch, { pooling: poolingOf(this.#name), normalize: true });
      const dimension = dims.at(-1)!;
      this.#dimension = dimension;
      const flat = Float32Array.from(data);
      for (let i = 0; i < batch.length; i++) {
        vectors.push(normalise(flat.slice(i * dimension, (i + 1) * dimension)));
      }
    }
    return vectors;
  }

  async close(): Promise<void> {
    const loaded = this.#pipeline;
    this.#pipeline = undefined;
    await loaded?.then((extract) => extract.dispose());
  }

  async #load(): Promise<FeatureExtraction> {
    try {
      const { pipeline } = await this.#importModule();
      return await pipeline('feature-extraction', this.#name);
    } catch (thrown) {
      this.#pipeline = undefined;
      if (thrown instanceof PmlError) throw thrown;
      throw new PmlError('embedding_unavailable', `The model ${this.#name} cannot be loaded by ${PACKAGE}`, {
        hint: 'Check its name and that it can be downloaded, or choose another model under pml.embedding.',
        cause: thrown,
      });
    }
  }
}

/** BGE models use the first token's state, the others the mean. */
function poolingOf(name: string): 'mean' | 'cls' {
  return /\bbge-/i.test(name) ? 'cls' : 'mean';
}

async function importTransformers(): Promise<TransformersModule> {
  try {
    // In a variable, so that the compiler does not look for the package.
    const name: string = PACKAGE;
    return (await import(name)) as TransformersModule;
  } catch (cause) {
    if (!(cause instanceof Error && cause.message.includes(`'${PACKAGE}'`))) throw cause;
    throw new PmlError('embedding_unavailable', `${PACKAGE} is not installed`, {
      hint: `Run "npm install ${PACKAGE}" where PML is installed, or choose another model under pml.embedding.`,
      cause,
    });
  }
}
