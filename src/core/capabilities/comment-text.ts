/** A text from outside as one line inside a comment: it can neither end the comment nor start a line. */
export function commentText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return '';
  const line = text
    .slice(0, maxLength * 4)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim();
  return line.length > maxLength
    ? `${line
        .slice(0, maxLength - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line;
}
