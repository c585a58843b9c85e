const DEFAULTS = {
  /** Characters of a text in a doc comment. */
  maxDoc: 1_000,
  /** Characters of one of its lines. */
  docLine: 100,
};

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

/**
 * A comment for editors above a declaration, of a text from outside; empty when it says nothing. An `@` that would
 * begin a tag, or an order to the compiler, is escaped; `tags` are the writer's own.
 */
export function docComment(text: unknown, tags: readonly string[] = []): string {
  const told = wrapped(commentText(text, DEFAULTS.maxDoc).replace(/(^| )@/g, '$1\\@'));
  const lines = [...told, ...tags];
  if (lines.length === 0) return '';
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= DEFAULTS.docLine) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
