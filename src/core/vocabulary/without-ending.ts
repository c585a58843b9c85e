/**
 * A text without these characters at its end. A regular expression such as `/0+$/` tries every run of them in
 * the text before it finds the last one, and takes quadratic time.
 */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
