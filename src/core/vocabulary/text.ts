const DEFAULTS = {
  /**
   * Of o200k, fitted to 397 definitions of real servers; those of bfcl come out 2 % too high, those of the reference
   * servers 2 % too low. The tokenizer itself takes 60 MB.
   */
  charactersPerToken: 4.7,
  /** Longest text of a doc comment, in characters. */
  maxDoc: 1_000,
  /** Longest line of a doc comment, in characters. */
  docLine: 100,
};

/** How many tokens a model reads, about. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / DEFAULTS.charactersPerToken);
}

/**
 * One line of text from an agent or server, safe to print in a terminal or text file: characters that would start
 * a line, move the cursor, colour, hide or reverse what a person reads are escaped.
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

/** A text from outside as one line of at most `maxLength` characters, without control characters. */
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

/** One line for use between `/*` and `*\/`: the text cannot end the comment. */
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

/** A part of a text between quotes; `start` and `end` have the quotes in them. */
export interface QuotedSpan {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  '`': '`',
  "'": "'",
  '“': '”',
  '‘': '’',
  '«': '»',
};
const LETTER = /[\p{L}\p{N}]/u;

/**
 * What stands in quotes, in order and not nested. An apostrophe inside or at the end of a word is not a quote; nor is a mark
 * that nothing closes. One pass: where the next closing mark of each kind stands is looked up once.
 */
export function quotedSpans(text: string): QuotedSpan[] {
  const spans: QuotedSpan[] = [];
  const next = new Map<string, number>();
  const closes = (mark: string, from: number): number => {
    const known = next.get(mark);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    let at = text.indexOf(mark, from);
    while (at !== -1 && isApostrophe(text, at)) at = text.indexOf(mark, at + 1);
    next.set(mark, at);
    return at;
  };
  for (let at = 0; at < text.length; at++) {
    const closing = CLOSING[text[at]!];
    if (closing === undefined || LETTER.test(text[at - 1] ?? '')) continue;
    const end = closes(closing, at + 1);
    if (end <= at + 1) continue;
    spans.push({ start: at, end: end + 1, text: text.slice(at + 1, end) });
    at = end;
  }
  return spans;
}

/** `it's`, `don’t`: a letter on both sides. */
function isApostrophe(text: string, at: number): boolean {
  return "'’".includes(text[at]!) && LETTER.test(text[at - 1] ?? '') && LETTER.test(text[at + 1] ?? '');
}
