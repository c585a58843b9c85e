import { findIssuerKeys } from './issuer-keys.ts';
import { findInCommands } from './secret-commands.ts';
import { isSecretName } from './secret-names.ts';
import type { Span } from './text-search.ts';

/**
 * Credentials that can be told by their looks, without knowing them. What the group `keep`
 * matched stays. Each pattern is anchored on a literal or guarded by a lookbehind, so that
 * matching stays linear in the length of the text.
 */
const SHAPES: readonly RegExp[] = [
  // JSON web tokens; the signature may be missing.
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  // PEM blocks, also cut off before their end.
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  // PuTTY's own form.
  /(?<keep>Private-Lines: \d{1,4}\s{1,2})[A-Za-z0-9+/=\s]+/g,
  // Discord and Telegram bots, Mailchimp, Mailgun, Terraform, Azure.
  /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])/g,
  /(?<![\w-])\d{8,10}:[\w-]{35}(?![\w-])/g,
  /(?<![\w-])[0-9a-f]{32}-(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])/g,
  /(?<keep>\.atlasv1\.)[\w=-]{40,}/g,
  /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,40}/g,
  // Addresses that are a key to what they lead to.
  /(?<keep>hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/)[\w/+-]{16,}/gi,
  /(?<keep>discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)\d{10,24}\/[\w-]{20,}/gi,
  /(?<keep>webhook\.office\.com\/webhookb2\/|hooks\.zapier\.com\/hooks\/catch\/|logic\.azure\.com[^\s"'<>?]{1,200}\?)[^\s"'<>]{8,}/gi,
  /(?<keep>[?&;](?:sig|sign|signature|x-amz-signature|x-goog-signature|x-oss-signature|x-amz-credential|hmac)=)[^&\s"'<>#]{6,}/gi,
  /(?<keep>\bbearer\s{1,8})[\w.~+/-]{8,}=*/gi,
  /(?<keep>\bSSWS\s{1,8})[\w.-]{16,}/g,
  /(?<keep>\bauthorization\\{0,8}["']?\s{0,8}[:=]\s{0,8}\\{0,8}["']?(?:basic|digest|token|apikey|negotiate)\s{1,8})[^\s"',\\]+/gi,
  /(?<keep>\b(?:set-)?cookie:\s{0,8})[^\s"'][^\r\n"']*/gi,
  // scheme://user:password@host, and a token in the place of the user.
  /(?<keep>:\/\/[^\s/?#@:"'<>`\\]*:)[^\s/?#"'<>`\\]+(?=@)/g,
  /(?<keep>:\/\/)[^\s/?#@:"'<>`\\]{16,}(?=@)/g,
  // .netrc
  /(?<keep>\b(?:machine\s{1,8}\S{1,128}|default)\s{1,8}(?:login\s{1,8}\S{1,128}\s{1,8})?(?:account\s{1,8}\S{1,128}\s{1,8})?password\s{1,8})\S{1,256}/g,
];

/** `name: "value"`, `"name": "value"`, `\"name\":\"value\"`, `:name => "value"`, `NAME=value`, `?name=value`. */
const PAIR =
  /(?<![\p{L}\p{N}_.-])-{0,2}(?<name>[\p{L}_][\p{L}\p{M}\p{N}_.-]{1,63})\\{0,8}["']?\s{0,8}(?<sign>=>|[:=：])\s{0,8}(?<quote>\\{0,8}["'`])?/gu;
/** `--name value` */
const FLAG = /(?<![\w-])--?(?<name>[A-Za-z][\w-]{1,63})(?<sign>\s)\s{0,3}(?<quote>\\{0,8}["'])?/g;
/** `<name>value<`, `<name type="x">value<` */
const ELEMENT = /<(?<name>[A-Za-z_][\w.:-]{1,63})(?:\s[^<>]{0,200})?(?<sign>>)/g;
/** `"name": "name", "value": "value"` */
const ENTRY =
  /["'](?:name|key)\\{0,8}["']\s{0,8}:\s{0,8}\\{0,8}["'](?<name>[\w.-]{2,64})\\{0,8}["']\s{0,8},\s{0,8}\\{0,8}["']value\\{0,8}["']\s{0,8}(?<sign>:)\s{0,8}(?<quote>\\{0,8}["'])/gi;
const BARE_VALUE = /[^\s"'`&<>;,(){}[\]\\]+/y;
const ELEMENT_VALUE = /(?:<!\[CDATA\[)?[^<]{1,4096}/y;
/** A word without digits after `name: ` is more often prose or a type annotation than a password. */
const PLAIN_WORD = /^[A-Za-z_$.]*$/;

export function findShapes(text: string): Span[] {
  const spans: Span[] = [];
  findIssuerKeys(text, spans);
  for (const shape of SHAPES) {
    shape.lastIndex = 0;
    for (let match = shape.exec(text); match !== null; match = shape.exec(text)) {
      const kept = match.groups?.keep?.length ?? 0;
      spans.push([match.index + kept, match.index + match[0].length]);
    }
  }
  findNamedValues(text, PAIR, spans);
  findNamedValues(text, FLAG, spans);
  if (text.includes('</')) findNamedValues(text, ELEMENT, spans);
  findNamedValues(text, ENTRY, spans);
  findInCommands(text, spans);
  return spans;
}

/** In a list of arguments the value after this one is a secret: `--token`. */
export function isSecretFlag(argument: string): boolean {
  return /^--?[A-Za-z][\w-]{0,127}$/.test(argument) && isSecretName(argument);
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
  let slashesFrom = start;
  for (let at = text.indexOf(mark, start); at !== -1; at = text.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= slashesFrom && text[at - 1 - slashes] === '\\') slashes++;
    if (depth === 0 ? slashes % 2 === 0 : slashes === depth) return at - depth;
    slashesFrom = at + 1;
  }
  return text.length;
}

function endOfBare(text: string, start: number, sign: string): number {
  const pattern = sign === '>' ? ELEMENT_VALUE : BARE_VALUE;
  pattern.lastIndex = start;
  const value = pattern.exec(text)?.[0] ?? '';
  const end = start + value.length;
  if (sign === '>') return end;
  const isCode = /^[=>]/.test(value) || text[end] === '(' || text[end] === '[';
  const loose = sign !== '=' || text[start - 1] !== '=';
  const isFlag = sign.trim() === '';
  return isCode || (loose && !isFlag && PLAIN_WORD.test(value)) ? start : end;
}
