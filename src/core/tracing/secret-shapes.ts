import type { Span } from './found-secrets.ts';
import { findIssuerKeys, isSecretName } from './known-secrets.ts';

const DEFAULTS = {
  /** Longest name before a value, in UTF-16 units. */
  maxName: 64,
  /** Most text read before the password of a `.netrc` entry, in UTF-16 units. */
  maxNetrc: 450,
  /** Longest command line that is read, in UTF-16 units. */
  maxLine: 512,
};

/**
 * Credentials that can be recognised by their shape. Text matched by the group `keep` stays; a match of the
 * group `none` means that this is not a secret. Each pattern is anchored on a literal or guarded by a lookbehind,
 * and continues after the text it has read, so that matching is linear in the length of the text.
 */
const SHAPES: readonly RegExp[] = [
  // JSON web tokens; the signature may be missing.
  /(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]{8,}(?:\.[\w-]*)?|(?<none>))/g,
  // PEM blocks, also when their end is cut off.
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  // PuTTY's private key format.
  /(?<keep>Private-Lines: \d{1,4}\s{1,2})[A-Za-z0-9+/=\s]+/g,
  // Discord and Telegram bots, Mailchimp, Mailgun, Terraform, Azure.
  /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])/g,
  /(?<![\w-])\d{8,10}:[\w-]{35}(?![\w-])/g,
  /(?<![\w-])[0-9a-f]{32}-(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])/g,
  /(?<keep>\.atlasv1\.)[\w=-]{40,}/g,
  /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,40}/g,
  // URLs that grant access by themselves.
  /(?<keep>hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/)[\w/+-]{16,}/gi,
  /(?<keep>discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)\d{10,24}\/[\w-]{20,}/gi,
  /(?<keep>webhook\.office\.com\/webhookb2\/|hooks\.zapier\.com\/hooks\/catch\/)[^\s"'<>]{8,}/gi,
  /(?<keep>logic\.azure\.com[^\s"'<>?]*\??)[^\s"'<>]*/gi,
  /(?<keep>[?&;](?:sig|sign|signature|x-amz-signature|x-goog-signature|x-oss-signature|x-amz-credential|hmac)=)[^&\s"'<>#]{6,}/gi,
  /(?<keep>\bbearer\s{1,8})[\w.~+/-]{8,}=*/gi,
  /(?<keep>\bSSWS\s{1,8})[\w.-]{16,}/g,
  /(?<keep>\bauthorization\\{0,8}["']?\s{0,8}[:=]\s{0,8}\\{0,8}["']?(?:basic|digest|token|apikey|negotiate)\s{1,8})[^\s"',\\]+/gi,
  /(?<keep>\b(?:set-)?cookie:\s{0,8})[^\s"'][^\r\n"']*/gi,
  // scheme://user:password@host, and a token instead of the user.
  /(?<keep>:\/\/[^\s/?#@:"'<>`\\]*:)[^\s/?#"'<>`\\]+(?=@)/g,
  /(?<keep>:\/\/)[^\s/?#@:"'<>`\\]{16,}(?=@)/g,
];

/** `name: "value"`, `"name": "value"`, `\"name\":\"value\"`, `:name => "value"`, `NAME=value`, `?name=value`. */
const PAIR_NAME = /(?<![\p{L}\p{N}_.-])-{0,2}(?<name>[\p{L}_][\p{L}\p{M}\p{N}_.-]*)/gu;
const PAIR_SIGN = /\\{0,8}["']?\s{0,8}(?<sign>=>|[:=：])\s{0,8}(?<quote>\\{0,8}["'`])?/y;
/** `--name value` */
const FLAG = /(?<![\w-])--?(?<name>[A-Za-z][\w-]{1,63})(?<sign>\s)\s{0,3}(?<quote>\\{0,8}["'])?/g;
/** `<name>value<`, `<name type="x">value<` */
const ELEMENT = /<(?<name>[A-Za-z_][\w.:-]{1,63})(?:\s[^<>]{0,200})?(?<sign>>)/g;
/** `"name": "name", "value": "value"` */
const ENTRY =
  /["'](?:name|key)\\{0,8}["']\s{0,8}:\s{0,8}\\{0,8}["'](?<name>[\w.-]{2,64})\\{0,8}["']\s{0,8},\s{0,8}\\{0,8}["']value\\{0,8}["']\s{0,8}(?<sign>:)\s{0,8}(?<quote>\\{0,8}["'])/gi;
const NETRC_PASSWORD = /(?<=\s)password\s{1,8}(\S{1,256})/g;
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
      const { keep = '', none } = match.groups ?? {};
      const start = match.index + keep.length;
      if (none === undefined && start < shape.lastIndex) spans.push([start, shape.lastIndex]);
    }
  }
  findPairs(text, spans);
  findNamedValues(text, FLAG, spans);
  if (text.includes('</')) findNamedValues(text, ELEMENT, spans);
  findNamedValues(text, ENTRY, spans);
  findInNetrc(text, spans);
  findInCommands(text, spans);
  return spans;
}

/** In a list of arguments, the value after this one is a secret: `--token`. */
export function isSecretFlag(argument: string): boolean {
  return /^--?[A-Za-z][\w-]{0,127}$/.test(argument) && isSecretName(argument);
}

/** Finds values that follow a name such as `password` or `api_key` in text. */
function findPairs(text: string, spans: Span[]): void {
  PAIR_NAME.lastIndex = 0;
  for (let match = PAIR_NAME.exec(text); match !== null; match = PAIR_NAME.exec(text)) {
    PAIR_SIGN.lastIndex = PAIR_NAME.lastIndex;
    const { sign, quote } = PAIR_SIGN.exec(text)?.groups ?? {};
    const name = match.groups!.name!;
    if (sign === undefined || name.length < 2 || name.length > DEFAULTS.maxName) continue;
    PAIR_NAME.lastIndex = addValue(text, PAIR_SIGN.lastIndex, { name, sign, quote }, spans);
  }
}

function findNamedValues(text: string, pair: RegExp, spans: Span[]): void {
  pair.lastIndex = 0;
  for (let match = pair.exec(text); match !== null; match = pair.exec(text)) {
    const { name, sign, quote } = match.groups!;
    pair.lastIndex = addValue(text, pair.lastIndex, { name: name!, sign: sign!, quote }, spans);
  }
}

interface Before {
  readonly name: string;
  readonly sign: string;
  readonly quote: string | undefined;
}

/** Returns where to continue: before a harmless value, since the value may contain a pair. */
function addValue(text: string, start: number, { name, sign, quote }: Before, spans: Span[]): number {
  if (!isSecretName(name)) return start;
  const end = quote ? endOfQuoted(text, start, quote) : endOfBare(text, start, sign);
  if (end > start) spans.push([start, end]);
  return end;
}

/** `machine example.com login joe password X` */
function findInNetrc(text: string, spans: Span[]): void {
  for (const { 0: found, 1: secret, index } of text.matchAll(NETRC_PASSWORD)) {
    const words = text
      .slice(Math.max(0, index - DEFAULTS.maxNetrc), index)
      .trim()
      .split(/\s+/);
    let left = words.length;
    for (const name of ['account', 'login']) if (words[left - 2] === name) left -= 2;
    if (!/\bdefault$/.test(words[left - 1] ?? '') && !/\bmachine$/.test(words[left - 2] ?? '')) continue;
    spans.push([index + found.length - secret!.length, index + found.length]);
  }
}

/** `quote` includes its backslashes: a quote with more backslashes belongs to the value. */
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

/** Programs that take a password in a one-letter option, which means nothing in other programs. */
const COMMAND =
  /(?<![\w.-])(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|sshpass|plink|pscp|psftp|redis-cli|ldapsearch|ldapmodify|ldapadd|docker|podman|helm|curl|wget|http|smbclient|rpcclient|mongo|mongosh|mongodump|sqlcmd|openssl|unzip|zip|7z|az|ftp|lftp)(?![\w-])/g;

const WORD = /"[^"\n]{0,256}"|'[^'\n]{0,256}'|[^\s"'|;&]+/g;

interface Options {
  /** The value follows in the same word. */
  readonly joined?: RegExp;
  /** The value is the next word. */
  readonly next?: readonly string[];
  /** A name precedes the value: `joe:secret`, `joe%secret`. */
  readonly hasName?: true;
  /** In other subcommands the option means something else: `docker run -p 80:80`. */
  readonly onlyWith?: string;
}

const MYSQL: Options = { joined: /^-p(?=.|$)/ };

const PUTTY: Options = { next: ['-pw'] };

const LDAP: Options = { next: ['-w'] };

const CONTAINERS: Options = { next: ['-p'], onlyWith: 'login' };

const CURL: Options = {
  joined: /^-u(?=[^:]{1,128}:)/,
  next: ['-u', '--user', '-U', '--proxy-user'],
  hasName: true,
};

const SAMBA: Options = { next: ['-U'], hasName: true };

const MONGO: Options = { next: ['-p'] };

const ZIP: Options = { joined: /^-P(?=.)/, next: ['-P'] };

const FTP: Options = { next: ['-u'], hasName: true };

/** By the beginning of the program's name. */
const PROGRAMS: readonly (readonly [start: string, options: Options])[] = [
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['sshpass', { joined: /^-p(?=.)/, next: ['-p'] }],
  ['plink', PUTTY],
  ['pscp', PUTTY],
  ['psftp', PUTTY],
  ['redis-cli', { next: ['-a'] }],
  ['ldap', LDAP],
  ['docker', CONTAINERS],
  ['podman', CONTAINERS],
  ['helm', CONTAINERS],
  ['az', CONTAINERS],
  ['curl', CURL],
  ['wget', CURL],
  ['http', { next: ['-a', '--auth'], hasName: true }],
  ['smbclient', SAMBA],
  ['rpcclient', SAMBA],
  ['mongo', MONGO],
  ['sqlcmd', ZIP],
  ['openssl', { next: ['-passin', '-passout', '-pass', '-k'] }],
  ['unzip', ZIP],
  ['zip', ZIP],
  ['7z', { joined: /^-p(?=.)/ }],
  ['lftp', FTP],
  ['ftp', FTP],
];

/** Passwords on command lines: `mysql -pX`, `sshpass -p X`, `curl -u joe:X`. */
function findInCommands(text: string, spans: Span[]): void {
  COMMAND.lastIndex = 0;
  for (let match = COMMAND.exec(text); match !== null; match = COMMAND.exec(text)) {
    const start = COMMAND.lastIndex;
    const name = match[0];
    const options = PROGRAMS.find(([program]) => name.startsWith(program))?.[1];
    const line = text.slice(start, start + DEFAULTS.maxLine).split('\n', 1)[0]!;
    if (!options || (options.onlyWith !== undefined && !line.includes(options.onlyWith))) continue;
    const read = findInWords(line, start, options, spans);
    // Continue after the words already read, so that a line that names many programs is not read many times.
    COMMAND.lastIndex = start + read;
  }
}

/** Returns how far it has read: to the end, or up to a word that is itself a program. */
function findInWords(line: string, offset: number, options: Options, spans: Span[]): number {
  const { joined, next } = options;
  let before = '';
  let beforeEnd = 0;
  for (const { 0: word, index } of line.matchAll(WORD)) {
    COMMAND.lastIndex = 0;
    if (COMMAND.exec(word)?.[0] === word) return index;
    const glued = joined?.exec(word)?.[0].length ?? 0;
    const isGlued = joined?.test(before) === true && before.length === 2 && beforeEnd === index;
    if (glued > 0 && glued < word.length) addSecret(word, offset + index, glued, options, spans);
    else if (isGlued || next?.includes(before)) addSecret(word, offset + index, 0, options, spans);
    before = word;
    beforeEnd = index + word.length;
  }
  return line.length;
}

function addSecret(word: string, at: number, from: number, { hasName }: Options, spans: Span[]): void {
  const isQuoted = /^["']/.test(word.slice(from));
  const start = from + (isQuoted ? 1 : 0);
  const end = word.length - (isQuoted ? 1 : 0);
  const name = hasName ? /^[^:%,]{0,128}[:%,]/.exec(word.slice(start, end))?.[0].length : 0;
  if (name !== undefined && start + name < end) spans.push([at + start + name, at + end]);
}
