import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Arena, Pointer } from '../../core/numeric/matrices.ts';
import type { EncoderKernels } from '../../core/numeric/scalar-encoder.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';

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
  readonly thread: number;
  /** Threads that the memory has room for. */
  readonly threads: number;
  /** Absent for the first thread, which makes the memory: where the others get it from. */
  readonly from?: MessagePort;
}

/** To the worker: embed these texts. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** To the first worker: pass the memory on. */
export interface ShareRequest {
  readonly to: MessagePort;
}

/** From the worker: the vectors end to end, or the error. */
export type EmbedReply =
  | { readonly id: number; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly id: number; readonly error: ErrorShape };

const WEIGHTS = new URL('../../../assets/embedder/weights.bin', import.meta.url);
const TENSORS = new URL('../../../assets/embedder/weights.json', import.meta.url);
const TOKENIZER = new URL('../../../assets/embedder/tokenizer.json', import.meta.url);
const TOKENIZER_CONFIG = new URL('../../../assets/embedder/tokenizer_config.json', import.meta.url);

const FLOAT = Float32Array.BYTES_PER_ELEMENT;

/** The dtype of tensors of signed bytes: rows laid end to end, then the float32 scale of each row. */
const BYTES = 'int8-row';

/** x -> x W^T + b, W packed for `gemmInt8`. */
export interface Dense {
  readonly inputs: number;
  readonly outputs: number;
  readonly weight: Pointer;
  /** One for each output. */
  readonly scales: Pointer;
  readonly bias: Pointer;
}

interface Norm {
  readonly gamma: Pointer;
  readonly beta: Pointer;
}

export interface Layer {
  /** Query, key and value side by side: [3 hidden x hidden]. */
  readonly queryKeyValue: Dense;
  readonly attentionOutput: Dense;
  readonly attentionNorm: Norm;
  readonly intermediate: Dense;
  readonly output: Dense;
  readonly outputNorm: Norm;
}

/** Rows of signed bytes: value = scale of its row * byte. */
interface ByteRows {
  readonly bytes: Pointer;
  readonly scales: Pointer;
}

export interface MiniLmWeights {
  /** [30522 x hidden] */
  readonly words: ByteRows;
  /** [512 x hidden], with the token type of single texts added to every row. */
  readonly positions: ByteRows;
  readonly embeddingNorm: Norm;
  readonly layers: readonly Layer[];
}

interface TensorEntry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly offset: number;
}

export interface MiniLmFiles {
  readonly tensors: readonly TensorEntry[];
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
}

export async function readMiniLmFiles(): Promise<MiniLmFiles> {
  try {
    const [tensors, tokenizer, tokenizerConfig] = await Promise.all(
      [TENSORS, TOKENIZER, TOKENIZER_CONFIG].map((url) => readJson(url)),
    );
    return {
      tensors: tensors as readonly TensorEntry[],
      tokenizer: tokenizer!,
      tokenizerConfig: tokenizerConfig!,
    };
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown): PmlError {
  return new PmlError('embedding_unavailable', 'The files of the built-in embedding model cannot be read', {
    hint: 'Install PML again, or choose another model under pml.embedding.',
    cause,
  });
}

async function readJson(url: URL): Promise<object> {
  return JSON.parse(await readFile(url, 'utf8')) as object;
}

/** Reads the weights into the memory: 23 MB, as they stay bytes. One of the threads that share it does this. */
export function loadWeights(run: EncoderKernels, arena: Arena, { tensors }: MiniLmFiles): MiniLmWeights {
  let file: number | undefined;
  try {
    file = openSync(WEIGHTS, 'r');
    return layOut(arena, tensors, new WeightReader(run, arena, file));
  } catch (cause) {
    throw unreadable(cause);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Where another thread's `loadWeights` has put them. */
export function findWeights(arena: Arena, { tensors }: MiniLmFiles): MiniLmWeights {
  return layOut(arena, tensors, null);
}

class WeightReader {
  readonly #run: EncoderKernels;
  readonly #arena: Arena;
  readonly #file: number;

  constructor(run: EncoderKernels, arena: Arena, file: number) {
    this.#run = run;
    this.#arena = arena;
    this.#file = file;
  }

  /** Straight into the memory: a copy of the file beside it would stay in the process for good. */
  fill(to: Pointer, offset: number, length: number): void {
    const read = readSync(this.#file, this.#arena.viewBytes(to, length), 0, length, offset);
    if (read !== length) throw new Error('the weights are shorter than their list says');
  }

  pack(rows: number, columns: number, bytes: Pointer): void {
    const mark = this.#arena.mark();
    const packed = this.#arena.bytes(rows * columns);
    this.#run.packInt8(rows, columns, bytes, packed);
    this.#arena.viewBytes(bytes, rows * columns).set(this.#arena.viewBytes(packed, rows * columns));
    this.#arena.release(mark);
  }
}

/** Always in the same way, so that every thread finds what one of them has read. */
function layOut(arena: Arena, tensors: readonly TensorEntry[], reader: WeightReader | null): MiniLmWeights {
  const { hidden, layers } = MINILM;
  const entries = new Map(tensors.map((entry) => [entry.name, entry]));
  const entryOf = (name: string, dtype: string): TensorEntry => {
    const entry = entries.get(name);
    if (entry?.dtype !== dtype) throw new Error(`the model has no ${dtype} tensor ${name}`);
    return entry;
  };
  const put = (offset: number, length: number): Pointer => {
    const to = arena.bytes(length);
    reader?.fill(to, offset, length);
    return to;
  };
  const rowsOf = (name: string): ByteRows & { readonly rows: number; readonly columns: number } => {
    const { shape, offset } = entryOf(name, BYTES);
    const [rows, columns] = [shape[0]!, shape[1]!];
    const scales = put(offset + rows * columns, rows * FLOAT);
    return { rows, columns, bytes: put(offset, rows * columns), scales };
  };
  const vector = (name: string): Pointer => {
    const { shape, offset } = entryOf(name, 'float32');
    return put(offset, shape[0]! * FLOAT);
  };
  const norm = (path: string): Norm => ({ gamma: vector(`${path}.weight`), beta: vector(`${path}.bias`) });
  const dense = (path: string): Dense => {
    const bias = vector(`${path}.bias`);
    const { rows, columns, bytes, scales } = rowsOf(`${path}.weight`);
    reader?.pack(rows, columns, bytes);
    return { inputs: columns, outputs: rows, weight: bytes, scales, bias };
  };
  const [words, positions] = [rowsOf('we.weight'), rowsOf('pe.weight')];
  if (words.columns !== hidden || positions.columns !== hidden) throw new Error('the model has another size');
  return {
    words,
    positions,
    embeddingNorm: norm('ne'),
    layers: Array.from({ length: layers }, (_, i): Layer => {
      const at = `layers.${i}`;
      return {
        queryKeyValue: dense(`${at}.qkv`),
        attentionOutput: dense(`${at}.ao`),
        attentionNorm: norm(`${at}.n1`),
        intermediate: dense(`${at}.i`),
        output: dense(`${at}.o`),
        outputNorm: norm(`${at}.n2`),
      };
    }),
  };
}
