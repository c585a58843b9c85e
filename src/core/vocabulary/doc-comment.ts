import { oneLine } from './text.ts';

const DEFAULTS = {
  /** Longest text of a doc comment, in characters. */
  maxDoc: 1_000,
  /** Longest line of a doc comment, in characters. */
  docLine: 100,
};

/** The same, for use between `/*` and `*\/`: the text cannot end the comment. */
export function commentText(text: unknown, maxLength: number): string {
  return oneLine(typeof text === 'string' ? text.replaceAll('*/', '* /') : text, maxLength);
}

/**
 * A doc comment for editors, built from a text from outside; empty when the text is. An `@` that would begin a tag
 * or a compiler directive is escaped; `tags` are the caller's own.
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
