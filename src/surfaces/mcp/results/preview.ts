const DEFAULTS = { headChars: 3_000, tailChars: 1_000 };

export interface Preview {
  readonly head: string;
  readonly tail: string;
  readonly omittedChars: number;
}

/** Beginning and end of a long text, each whole characters. */
export function previewOf(text: string): Preview {
  const { headChars, tailChars } = DEFAULTS;
  if (text.length <= headChars + tailChars) return { head: text, tail: '', omittedChars: 0 };
  const head = text.slice(0, cutAt(text, headChars));
  const tail = text.slice(cutAt(text, text.length - tailChars));
  return { head, tail, omittedChars: text.length - head.length - tail.length };
}

/** `index`, or one less where it would part the two halves of a character. */
export function cutAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
  return isSecondHalf && index > 0 ? index - 1 : index;
}
