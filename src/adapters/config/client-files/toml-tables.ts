import { parse } from 'smol-toml';

/** One `[header]` with the lines below it. What stands before the first header has an empty name. */
export interface TomlTable {
  readonly name: readonly string[];
  /** The comment right above the header. */
  readonly lead: string;
  readonly text: string;
}

/**
 * A TOML text cut at its headers; leads and texts put together again are the whole. A line that
 * starts with `[` inside a list or a multi-line text is not a header.
 */
export function splitTables(text: string): TomlTable[] {
  const tables: { name: readonly string[]; lead: string; text: string }[] = [
    { name: [], lead: '', text: '' },
  ];
  /** The lines of comment at the end of the current table, if any. */
  let lead = '';
  let open: Open = { quote: '', depth: 0 };
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const isHeader = open.quote === '' && open.depth === 0 && /^[ \t]*\[/.test(line);
    const current = tables.at(-1)!;
    if (isHeader) {
      current.text = current.text.slice(0, current.text.length - lead.length);
      tables.push({ name: headerName(line), lead, text: line });
      lead = '';
    } else {
      current.text += line;
      lead = /^[ \t]*#/.test(line) ? lead + line : '';
      open = endOfLine(line, open);
    }
  }
  return tables;
}

interface Open {
  /** The quotes that an unfinished text of several lines began with. */
  readonly quote: '' | '"""' | "'''";
  /** Lists and inline tables that are not closed. */
  readonly depth: number;
}

/** A text that is not closed goes to the end, so that its end is looked for once. */
const TOKEN = /"""|'''|"(?:\\[\s\S]?|[^"\\])*(?:"|$)|'[^']*(?:'|$)|#.*|[[\]{}]/g;

function endOfLine(line: string, { quote, depth }: Open): Open {
  let rest = line;
  for (;;) {
    if (quote !== '') {
      const end = closing(rest, quote);
      if (end === -1) return { quote, depth };
      rest = rest.slice(end + 3);
      quote = '';
    }
    TOKEN.lastIndex = 0;
    for (let token = TOKEN.exec(rest); token !== null; token = TOKEN.exec(rest)) {
      const [found] = token;
      if (found === '"""' || found === "'''") {
        quote = found;
        rest = rest.slice(TOKEN.lastIndex);
        break;
      }
      if (found === '[' || found === '{') depth++;
      if (found === ']' || found === '}') depth--;
    }
    if (quote === '') return { quote, depth };
  }
}

/** Index of the closing quotes, -1 when they are on a later line. */
function closing(text: string, quote: '"""' | "'''"): number {
  if (quote === "'''") return text.indexOf(quote);
  const [body] = /^(?:\\.|(?!""")[^\\])*/s.exec(text)!;
  return body.length === text.length ? -1 : body.length;
}

/** `[a."b.c".d]` -> a, b.c, d; read by the parser itself. */
function headerName(line: string): string[] {
  const name: string[] = [];
  let inner: unknown = parse(line);
  for (;;) {
    const object = Array.isArray(inner) ? inner[0] : inner;
    const [key] = Object.keys(object as object);
    if (key === undefined) return name;
    name.push(key);
    inner = (object as Record<string, unknown>)[key];
  }
}
