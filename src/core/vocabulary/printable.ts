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
