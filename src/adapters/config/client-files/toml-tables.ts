import { parse } from 'smol-toml';

/** One `[header]` with the lines below it. Text before the first header has an empty name. */
export interface TomlTable {
  readonly name: readonly string[];
  /** The comment right above the header. */
  readonly lead: string;
  readonly text: string;
}

/**
 * A TOML text split at its headers; all leads and texts joined are the whole text. A line that starts with
 * `[` inside a list or a multi-line string is not a header.
 */
export function splitTables(text: string): TomlTable[] {
  const tables: { name: readonly string[]; lead: string; text: string }[] = [
    { name: [], lead: '', text: '' },
  ];
  /** The comment lines at the end of the current table. */
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
  /** The quotes that opened an unfinished multi-line string. */
  readonly quote: '' | '"""' | "'''";
  /** Number of unclosed lists and inline tables. */
  readonly depth: number;
}

/** An unclosed string extends to the end, so that the search stays linear. */
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

/** Index of the closing quotes; -1 if they are on a later line. */
function closing(text: string, quote: '"""' | "'''"): number {
  if (quote === "'''") return text.indexOf(quote);
  const [body] = /^(?:\\.|(?!""")[^\\])*/s.exec(text)!;
  return body.length === text.length ? -1 : body.length;
}

/** `[a."b.c".d]` -> a, b.c, d; parsed by the TOML parser. */
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
