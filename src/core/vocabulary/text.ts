/**
 * One line of text of agents and servers as a terminal or a text file may have it: characters that would start a
 * line, move the cursor, colour, hide or turn around what a person reads are spelt out.
 */
export function printable(text: string): string {
  return text.replace(
    /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

/**
 * A text without these characters at its end. A regular expression such as `/0+$/` tries every run of them in
 * the text before it finds the last one, and takes quadratic time.
 */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
