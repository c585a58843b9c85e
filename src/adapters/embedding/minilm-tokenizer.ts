import { Tokenizer } from '@huggingface/tokenizers';
import type { MiniLmFiles } from './minilm-files.ts';
import type { Tokens } from './minilm-model.ts';
import { MINILM } from './minilm-shape.ts';

const DEFAULTS = {
  /** Far more than 256 tokens of any script; keeps a text of megabytes from being cut into words in vain. */
  characters: 16_384,
};

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
