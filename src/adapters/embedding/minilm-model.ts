import { Tokenizer } from '@huggingface/tokenizers';
import { bestEncoder, createEncoder, type EncoderPath, encoderMemory } from '../../core/numeric/encoder.ts';
import { Arena, normalise, type Pointer, type WasmMemory } from '../../core/numeric/matrices.ts';
import { type EncoderKernels, quantisedLength } from '../../core/numeric/scalar-encoder.ts';
import {
  type Dense,
  findWeights,
  type Layer,
  loadWeights,
  MINILM,
  type MiniLmFiles,
  type MiniLmWeights,
} from './minilm-files.ts';

const DEFAULTS = {
  /** Far more than 256 tokens in any script; bounds the time to tokenize a text of megabytes. */
  characters: 16_384,
  /** Of the weights and of what one thread works with, with a little to spare. */
  weightBytes: 24_000_000,
  threadBytes: 5_200_000,
  /** The greatest 16-bit number of a token's row: with 1536 products of it and 127, a 32-bit sum is still exact. */
  limit: 11_000,
};

/** Token ids of one text, [CLS] and [SEP] included. */
export type Tokens = readonly number[];

const {
  hidden: HIDDEN,
  heads: HEADS,
  headSize: HEAD_SIZE,
  intermediate: INTERMEDIATE,
  epsilon: EPSILON,
} = MINILM;
const FLOAT = Float32Array.BYTES_PER_ELEMENT;

/** Where the threads of one model work: a memory they share, into which the first reads the weights. */
export interface ModelPlace {
  readonly memory: WasmMemory;
  readonly thread: number;
}

/** Room for the weights and for so many threads. */
export function modelMemory(threads: number, path: EncoderPath = bestEncoder()): WasmMemory {
  return encoderMemory(DEFAULTS.weightBytes + threads * DEFAULTS.threadBytes, path);
}

/**
 * The forward pass of all-MiniLM-L6-v2 with 8-bit weights. Texts of a batch are laid end to end without padding: dense
 * layers see one matrix of all tokens, attention sees each text alone. So a text's vector does not
 * depend on the texts beside it, nor on the kernels' path, to the last bit.
 */
export class MiniLmModel {
  /** Maximum number of tokens per batch. */
  readonly capacity: number;
  readonly #run: EncoderKernels;
  readonly #arena: Arena;
  readonly #weights: MiniLmWeights;
  /** [capacity x HIDDEN]: token states. */
  readonly #states: Pointer;
  /** [capacity x 3 HIDDEN] */
  readonly #queryKeyValue: Pointer;
  /** [capacity x HIDDEN]: output of the attention heads. */
  readonly #gathered: Pointer;
  /** [capacity x HIDDEN]: residual that a sublayer adds to the states. */
  readonly #added: Pointer;
  /** [capacity x INTERMEDIATE] */
  readonly #wide: Pointer;
  /** A layer's input as 16-bit numbers, and the scale of each row. */
  readonly #rounded: Pointer;
  readonly #scales: Pointer;
  /** Room for `attend`. */
  readonly #scratch: Pointer;

  constructor(files: MiniLmFiles, place: ModelPlace, path: EncoderPath = bestEncoder()) {
    const capacity = MINILM.maxTokens;
    this.capacity = capacity;
    this.#run = createEncoder(place.memory, path);
    const start = new Arena(place.memory, 0);
    this.#weights = place.thread === 0 ? loadWeights(this.#run, start, files) : findWeights(start, files);
    const arena = new Arena(place.memory, DEFAULTS.weightBytes + place.thread * DEFAULTS.threadBytes);
    this.#arena = arena;
    this.#states = arena.floats(capacity * HIDDEN);
    this.#queryKeyValue = arena.floats(capacity * 3 * HIDDEN);
    this.#gathered = arena.floats(capacity * HIDDEN);
    this.#added = arena.floats(capacity * HIDDEN);
    this.#wide = arena.floats(capacity * INTERMEDIATE);
    this.#rounded = arena.bytes(quantisedLength(capacity, INTERMEDIATE));
    this.#scales = arena.floats(capacity);
    this.#scratch = arena.floats((capacity + 3) * (HEAD_SIZE + 1));
  }

  /** Returns one unit vector per text. */
  embed(batch: readonly Tokens[]): Float32Array[] {
    const rows = batch.reduce((sum, tokens) => sum + tokens.length, 0);
    if (rows > this.capacity)
      throw new RangeError(`A batch has ${rows} tokens; the maximum is ${this.capacity}`);
    this.#lookUp(batch, rows);
    for (const layer of this.#weights.layers) {
      this.#attend(layer, batch, rows);
      this.#transform(layer, rows);
    }
    return this.#pool(batch);
  }

  /** states = LayerNorm(word + position) */
  #lookUp(batch: readonly Tokens[], rows: number): void {
    const { words, positions, embeddingNorm } = this.#weights;
    const states = this.#arena.view(this.#states, rows * HIDDEN);
    const [word, wordScales] = this.#rowsAt(words, MINILM.vocabulary);
    const [place, placeScales] = this.#rowsAt(positions, MINILM.positions);
    let to = 0;
    for (const tokens of batch) {
      for (const [position, token] of tokens.entries()) {
        const [wordScale, placeScale] = [wordScales[token]!, placeScales[position]!];
        for (let i = 0; i < HIDDEN; i++) {
          states[to++] = wordScale * word[token * HIDDEN + i]! + placeScale * place[position * HIDDEN + i]!;
        }
      }
    }
    const { gamma, beta } = embeddingNorm;
    this.#run.layerNormRows(rows, HIDDEN, this.#states, gamma, beta, EPSILON);
  }

  #rowsAt({ bytes, scales }: MiniLmWeights['words'], rows: number): [bytes: Int8Array, scales: Float32Array] {
    const { buffer, byteOffset, length } = this.#arena.viewBytes(bytes, rows * HIDDEN);
    return [new Int8Array(buffer, byteOffset, length), this.#arena.view(scales, rows)];
  }

  /** states = LayerNorm(states + attention(states)), softmax(Q K^T / sqrt(head size)) V per head */
  #attend(layer: Layer, batch: readonly Tokens[], rows: number): void {
    this.#dense(layer.queryKeyValue, rows, this.#states, this.#queryKeyValue);
    let first = 0;
    for (const { length } of batch) {
      const qkv = this.#queryKeyValue + first * 3 * HIDDEN * FLOAT;
      const out = this.#gathered + first * HIDDEN * FLOAT;
      this.#run.attend(length, HEADS, qkv, out, this.#scratch, 1 / Math.sqrt(HEAD_SIZE));
      first += length;
    }
    this.#dense(layer.attentionOutput, rows, this.#gathered, this.#added);
    this.#addAndNormalise(layer.attentionNorm, rows);
  }

  /** states = LayerNorm(states + W2 GELU(W1 states)) */
  #transform(layer: Layer, rows: number): void {
    this.#dense(layer.intermediate, rows, this.#states, this.#wide);
    this.#run.gelu(rows * INTERMEDIATE, this.#wide);
    this.#dense(layer.output, rows, this.#wide, this.#added);
    this.#addAndNormalise(layer.outputNorm, rows);
  }

  #dense({ inputs, outputs, weight, scales, bias }: Dense, rows: number, from: Pointer, to: Pointer): void {
    this.#run.quantiseRows(rows, inputs, from, DEFAULTS.limit, this.#rounded, this.#scales);
    this.#run.gemmInt8(rows, outputs, inputs, this.#rounded, this.#scales, weight, scales, bias, to);
  }

  #addAndNormalise({ gamma, beta }: Layer['outputNorm'], rows: number): void {
    this.#run.add(rows * HIDDEN, this.#states, this.#added);
    this.#run.layerNormRows(rows, HIDDEN, this.#states, gamma, beta, EPSILON);
  }

  /** The mean over a text's tokens, scaled to length 1. */
  #pool(batch: readonly Tokens[]): Float32Array[] {
    let first = 0;
    return batch.map(({ length }) => {
      const states = this.#arena.view(this.#states + first * HIDDEN * FLOAT, length * HIDDEN);
      first += length;
      const mean = new Float32Array(HIDDEN);
      for (let at = 0; at < states.length; at += HIDDEN) {
        for (let i = 0; i < HIDDEN; i++) mean[i]! += states[at + i]!;
      }
      return normalise(mean);
    });
  }
}

/** Text -> token ids with [CLS] and [SEP]; a truncated text keeps [SEP]. */
export function createTokenizer({
  tokenizer,
  tokenizerConfig,
}: Pick<MiniLmFiles, 'tokenizer' | 'tokenizerConfig'>): (text: string) => Tokens {
  const library = new Tokenizer(tokenizer, tokenizerConfig);
  return (text) => {
    const { ids } = library.encode(text.slice(0, DEFAULTS.characters));
    if (ids.length <= MINILM.maxTokens) return ids;
    return [...ids.slice(0, MINILM.maxTokens - 1), ids.at(-1)!];
  };
}
