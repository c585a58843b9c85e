import { Tokenizer } from '@huggingface/tokenizers';
import type { Pointer } from '../../core/numeric/arena.ts';
import { Kernels } from '../../core/numeric/kernels.ts';
import { normalise } from '../../core/numeric/vectors.ts';
import {
  type Dense,
  type Layer,
  loadWeights,
  type MiniLmFiles,
  type MiniLmWeights,
  type QuantisedTensor,
} from './minilm-files.ts';
import { MINILM } from './minilm-messages.ts';

const DEFAULTS = {
  /** Far more than 256 tokens of any script; keeps a text of megabytes from being cut into words in vain. */
  characters: 16_384,
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

/**
 * The forward pass of all-MiniLM-L6-v2. Texts of a batch are laid end to end without padding: dense
 * layers see one matrix of all tokens, attention sees each text alone. So a text's vector does not
 * depend on the texts beside it, to the last bit.
 */
export class MiniLmModel {
  /** The most tokens one batch can hold. */
  readonly capacity: number;
  readonly #kernels = new Kernels();
  readonly #weights: MiniLmWeights;
  /** [capacity x HIDDEN]: the tokens' states. */
  readonly #states: Pointer;
  /** [capacity x 3 HIDDEN] */
  readonly #queryKeyValue: Pointer;
  /** [capacity x HIDDEN]: what each token gathered from the others. */
  readonly #gathered: Pointer;
  /** [capacity x HIDDEN]: what half a layer adds to the states. */
  readonly #added: Pointer;
  /** [capacity x INTERMEDIATE] */
  readonly #wide: Pointer;
  /** [capacity x capacity]: attention weights of one head on one text. */
  readonly #attention: Pointer;

  constructor(tensors: ReadonlyMap<string, QuantisedTensor>, capacity: number) {
    this.capacity = capacity;
    this.#weights = loadWeights(this.#kernels, tensors);
    const { arena } = this.#kernels;
    this.#states = arena.floats(capacity * HIDDEN);
    this.#queryKeyValue = arena.floats(capacity * 3 * HIDDEN);
    this.#gathered = arena.floats(capacity * HIDDEN);
    this.#added = arena.floats(capacity * HIDDEN);
    this.#wide = arena.floats(capacity * INTERMEDIATE);
    this.#attention = arena.floats(capacity * capacity);
  }

  /** One unit vector per text. */
  embed(batch: readonly Tokens[]): Float32Array[] {
    const rows = batch.reduce((sum, tokens) => sum + tokens.length, 0);
    if (rows > this.capacity) throw new RangeError(`${rows} tokens in a batch of at most ${this.capacity}`);
    this.#lookUp(batch, rows);
    for (const layer of this.#weights.layers) {
      this.#attend(layer, batch, rows);
      this.#transform(layer, rows);
    }
    return this.#pool(batch);
  }

  /** states = LayerNorm(word + position + token type) */
  #lookUp(batch: readonly Tokens[], rows: number): void {
    const { words, positions, embeddingNorm } = this.#weights;
    const states = this.#kernels.arena.view(this.#states, rows * HIDDEN);
    let row = 0;
    for (const tokens of batch) {
      for (const [position, token] of tokens.entries()) {
        for (let i = 0; i < HIDDEN; i++) {
          const word = words.low + words.step * words.bytes[token * HIDDEN + i]!;
          states[row * HIDDEN + i] = word + positions[position * HIDDEN + i]!;
        }
        row++;
      }
    }
    const { gamma, beta } = embeddingNorm;
    this.#kernels.run.layerNormRows(rows, HIDDEN, this.#states, gamma, beta, EPSILON);
  }

  /** states = LayerNorm(states + attention(states)), softmax(Q K^T / sqrt(head size)) V per head */
  #attend(layer: Layer, batch: readonly Tokens[], rows: number): void {
    const { run } = this.#kernels;
    const stride = 3 * HIDDEN;
    this.#dense(layer.queryKeyValue, rows, this.#states, this.#queryKeyValue);
    let first = 0;
    for (const { length } of batch) {
      for (let head = 0; head < HEADS; head++) {
        const query = this.#queryKeyValue + (first * stride + head * HEAD_SIZE) * FLOAT;
        const key = query + HIDDEN * FLOAT;
        const value = key + HIDDEN * FLOAT;
        const out = this.#gathered + (first * HIDDEN + head * HEAD_SIZE) * FLOAT;
        run.gemm(length, length, HEAD_SIZE, query, stride, 1, key, 1, stride, this.#attention, length, 0);
        run.softmaxRows(length, length, this.#attention, 1 / Math.sqrt(HEAD_SIZE));
        run.gemm(length, HEAD_SIZE, length, this.#attention, length, 1, value, stride, 1, out, HIDDEN, 0);
      }
      first += length;
    }
    this.#dense(layer.attentionOutput, rows, this.#gathered, this.#added);
    this.#addAndNormalise(layer.attentionNorm, rows);
  }

  /** states = LayerNorm(states + W2 GELU(W1 states)) */
  #transform(layer: Layer, rows: number): void {
    this.#dense(layer.intermediate, rows, this.#states, this.#wide);
    this.#kernels.run.gelu(rows * INTERMEDIATE, this.#wide);
    this.#dense(layer.output, rows, this.#wide, this.#added);
    this.#addAndNormalise(layer.outputNorm, rows);
  }

  #dense({ inputs, outputs, weight, bias }: Dense, rows: number, from: Pointer, to: Pointer): void {
    this.#kernels.run.gemmPacked(rows, outputs, inputs, from, inputs, weight, to, outputs);
    this.#kernels.run.addBias(rows, outputs, to, bias);
  }

  #addAndNormalise({ gamma, beta }: Layer['outputNorm'], rows: number): void {
    this.#kernels.run.add(rows * HIDDEN, this.#states, this.#added);
    this.#kernels.run.layerNormRows(rows, HIDDEN, this.#states, gamma, beta, EPSILON);
  }

  /** The mean over a text's tokens, scaled to length 1. */
  #pool(batch: readonly Tokens[]): Float32Array[] {
    let first = 0;
    return batch.map(({ length }) => {
      const states = this.#kernels.arena.view(this.#states + first * HIDDEN * FLOAT, length * HIDDEN);
      first += length;
      const mean = new Float32Array(HIDDEN);
      for (const [i, value] of states.entries()) mean[i % HIDDEN]! += value;
      return normalise(mean);
    });
  }
}

/** Text -> token ids with [CLS] and [SEP], the latter kept when a text is cut. */
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
