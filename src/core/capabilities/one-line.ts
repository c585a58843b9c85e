/** A text from outside as one line of at most so many characters, without control characters. */
export function oneLine(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return '';
  const line = text
    .slice(0, maxLength * 4)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > maxLength
    ? `${line
        .slice(0, maxLength - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line;
}

/** The same within `/*` and `*\/`: it cannot end the comment. */
export function commentText(text: unknown, maxLength: number): string {
  return oneLine(typeof text === 'string' ? text.replaceAll('*/', '* /') : text, maxLength);
}
