import { isSecretName } from './secret-names.ts';

/** Half-open range of a string that has to go. */
export type Span = readonly [start: number, end: number];

/**
 * Credentials that can be told by their looks, without knowing them. What the group `keep`
 * matched stays. Each pattern is anchored on a literal or guarded by a lookbehind, so that
 * matching stays linear in the length of the text.
 */
const SHAPES: readonly RegExp[] = [
  // Keys with the issuer's prefix: PML's own, OpenAI, Anthropic, GitHub, GitLab, Slack, Stripe, npm, …
  /(?<![A-Za-z0-9])(?:pml_[0-9a-f]{32,}|sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{32,}|hf_[A-Za-z0-9]{24,}|gsk_\w{24,}|xai-\w{24,}|r8_\w{24,}|tvly-[\w-]{16,}|lin_api_\w{16,}|ntn_\w{24,}|dop_v1_\w{32,}|shp(?:at|ss|ca|pa)_\w{24,}|SG\.[\w-]{16,}\.[\w-]{16,}|AGE-SECRET-KEY-1\w{32,})/g,
  // JSON web tokens; the signature may be missing.
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  // PEM blocks, also cut off before their end.
  /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  /(?<keep>\bbearer\s{1,8})[\w.~+/-]{8,}=*/gi,
  /(?<keep>\bauthorization\\*["']?\s{0,8}[:=]\s{0,8}\\*["']?(?:basic|digest|token|apikey|negotiate)\s{1,8})[^\s"',\\]+/gi,
  /(?<keep>\b(?:set-)?cookie:\s{0,8})[^\s"'][^\r\n"']*/gi,
  // scheme://user:password@host, and a token in the place of the user.
  /(?<keep>:\/\/[^\s/?#@:"'<>`\\]*:)[^\s/?#"'<>`\\]+(?=@)/g,
  /(?<keep>:\/\/)[^\s/?#@:"'<>`\\]{16,}(?=@)/g,
];

/** `name: "value"`, `"name": "value"`, `\"name\":\"value\"`, `NAME=value`, `?name=value`. */
const PAIR =
  /(?<![\w.-])-{0,2}(?<name>[A-Za-z_][\w.-]{1,63})\\*["']?\s{0,8}(?<sign>[:=])\s{0,8}(?<quote>\\*["'`])?/g;
/** `--name value` */
const FLAG = /(?<![\w-])--?(?<name>[A-Za-z][\w-]{1,63})(?<sign>\s)\s{0,3}(?<quote>\\*["'])?/g;
const BARE_VALUE = /[^\s"'`&<>;,(){}[\]\\]+/y;
/** A word without digits after `name: ` is more often prose or a type annotation than a password. */
const PLAIN_WORD = /^[A-Za-z_$.]*$/;

export function findShapes(text: string): Span[] {
  const spans: Span[] = [];
  for (const shape of SHAPES) {
    shape.lastIndex = 0;
    for (let match = shape.exec(text); match !== null; match = shape.exec(text)) {
      const kept = match.groups?.keep?.length ?? 0;
      spans.push([match.index + kept, match.index + match[0].length]);
    }
  }
  findNamedValues(text, PAIR, spans);
  findNamedValues(text, FLAG, spans);
  return spans;
}

/** In a list of arguments the value after this one is a secret: `--token`. */
export function isSecretFlag(argument: string): boolean {
  return /^--?[A-Za-z][\w-]*$/.test(argument) && isSecretName(argument);
}

/** Values that stand in text right after a name such as `password` or `api_key`. */
function findNamedValues(text: string, pair: RegExp, spans: Span[]): void {
  // A match ends before its value, so a pair inside the value of a harmless one is found as well.
  pair.lastIndex = 0;
  for (let match = pair.exec(text); match !== null; match = pair.exec(text)) {
    const { name, sign, quote } = match.groups!;
    if (!isSecretName(name!)) continue;
    const start = pair.lastIndex;
    const end = quote ? endOfQuoted(text, start, quote) : endOfBare(text, start, sign!);
    if (end === start) continue;
    spans.push([start, end]);
    pair.lastIndex = end;
  }
}

/** `quote` carries its backslashes: a quote escaped more deeply belongs to the value. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const mark = quote.at(-1)!;
  const depth = quote.length - 1;
  for (let at = text.indexOf(mark, start); at !== -1; at = text.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= start && text[at - 1 - slashes] === '\\') slashes++;
    if (depth === 0 ? slashes % 2 === 0 : slashes === depth) return at - depth;
  }
  return text.length;
}

function endOfBare(text: string, start: number, sign: string): number {
  BARE_VALUE.lastIndex = start;
  const value = BARE_VALUE.exec(text)?.[0] ?? '';
  const end = start + value.length;
  const isCode = /^[=>]/.test(value) || text[end] === '(' || text[end] === '[';
  const loose = sign === ':' || (sign === '=' && text[start - 1] !== '=');
  return isCode || (loose && PLAIN_WORD.test(value)) ? start : end;
}
