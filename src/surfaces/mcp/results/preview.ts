const DEFAULTS = {
  chars: 4_000,
  /** Share of a preview for the beginning, which is more informative than the end. */
  headShare: 0.75,
};

export interface Preview {
  readonly head: string;
  readonly tail: string;
  readonly omittedChars: number;
}

/** Beginning and end of a long text, without splitting characters. */
export function previewOf(text: string, most = DEFAULTS.chars): Preview {
  const chars = Math.min(most, DEFAULTS.chars);
  if (text.length <= chars) return { head: text, tail: '', omittedChars: 0 };
  const headChars = Math.floor(chars * DEFAULTS.headShare);
  const tailChars = chars - headChars;
  const head = text.slice(0, cutAt(text, headChars));
  const tail = text.slice(cutAt(text, text.length - tailChars));
  return { head, tail, omittedChars: text.length - head.length - tail.length };
}

/** `index`, or one less if it would split a surrogate pair. */
export function cutAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
  return isSecondHalf && index > 0 ? index - 1 : index;
}
