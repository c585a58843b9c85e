import { Tokenizer } from '@huggingface/tokenizers';
import type { MiniLmFiles } from './minilm-files.ts';
import type { Tokens } from './minilm-model.ts';

const DEFAULTS = {
  /** What the model was trained on; the rest of a text does not count. */
  tokens: 256,
  /** Far more than 256 tokens of any script; keeps a text of megabytes from being cut into words in vain. */
  characters: 16_384,
};

export const MAX_TOKENS = DEFAULTS.tokens;

/** Text -> token ids with [CLS] and [SEP], the latter kept when a text is cut. */
export function createTokenizer({
  tokenizer,
  tokenizerConfig,
}: Pick<MiniLmFiles, 'tokenizer' | 'tokenizerConfig'>): (text: string) => Tokens {
  const library = new Tokenizer(tokenizer, tokenizerConfig);
  return (text) => {
    const { ids } = library.encode(text.slice(0, DEFAULTS.characters));
    if (ids.length <= DEFAULTS.tokens) return ids;
    return [...ids.slice(0, DEFAULTS.tokens - 1), ids.at(-1)!];
  };
}
