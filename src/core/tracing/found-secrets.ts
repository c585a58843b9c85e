import { createTextSearch, type Span, type TextSearch } from './text-search.ts';

const DEFAULTS = {
  /** Secrets of one run that are looked for everywhere; further ones are hidden where they are recognised. */
  maxValues: 4_000,
  /** All their spellings together, in UTF-16 units. */
  maxText: 1024 * 1024,
  /** Longer ones are not looked for elsewhere. */
  maxLength: 8_192,
  /** Shorter ones are hidden only where they are the whole value. */
  minWhole: 4,
  /** Of a longer one, with letters and digits, that is looked for by itself. */
  minPart: 10,
  /** Of one value that is secret as a whole. */
  maxLeaves: 1_000,
  maxDepth: 64,
};

/**
 * What was recognised as secret in one run, by its name or its looks: a value that is secret in one place is so
 * in every other, where nothing tells.
 */
export interface FoundSecrets {
  /** How many there are; grows. */
  readonly size: number;
  add(value: string): void;
  /** Whether this very value is one of them. */
  has(value: string): boolean;
  /** From now on those that were added are found, too. */
  look(): void;
  findIn(text: string): readonly Span[];
  readonly longest: number;
}

const SEPARATOR = /[\s;,=/&:@?"'\\]/;

/** A block, a cookie or an address that is secret as a whole is so for what nobody would type in it. */
function partsOf(secret: string): string[] {
  if (secret.length > DEFAULTS.maxLength || !SEPARATOR.test(secret)) return [];
  const parts = secret.replace(/\\[nrt]/g, ' ').split(SEPARATOR, DEFAULTS.maxLeaves);
  return parts.filter((part) => part.length >= DEFAULTS.minPart && /\d/.test(part) && /[A-Za-z]/.test(part));
}

/** Every text and number of a value that is secret as a whole, line by line. */
export function addLeaves(found: Pick<FoundSecrets, 'add'>, value: unknown): void {
  let left = DEFAULTS.maxLeaves;
  const visit = (item: unknown, depth: number): void => {
    if (left-- <= 0 || depth > DEFAULTS.maxDepth) return;
    if (typeof item === 'string') {
      found.add(item);
      if (item.includes('\n')) for (const line of item.split('\n', DEFAULTS.maxLeaves)) found.add(line);
    } else if (typeof item === 'number') found.add(String(item));
    else if (Array.isArray(item)) for (const one of item) visit(one, depth + 1);
    else if (typeof item === 'object' && item !== null)
      for (const one of Object.values(item)) visit(one, depth + 1);
  };
  visit(value, 0);
}

export function createFoundSecrets(): FoundSecrets {
  const values = new Set<string>();
  const forms = new Set<string>();
  let text = 0;
  let fresh: string[] = [];
  /** Largest first, each at least twice as large as the next: adding stays cheap, and they stay few. */
  const layers: { readonly forms: readonly string[]; readonly search: TextSearch }[] = [];
  /** A secret that is a plain word counts where it stands as a word of its own. */
  const counts = (text: string, span: Span) => {
    const [from, to] = span;
    const isWord = to - from <= 16 && values.has(text.slice(from, to)) && LETTERS.test(text.slice(from, to));
    return !isWord || standsAlone(text, span);
  };
  const keep = (value: string) => {
    const plain = value.trim();
    if (plain.length > DEFAULTS.maxLength || plain.length < DEFAULTS.minWhole || isCommonWord(plain)) return;
    if (values.has(plain) || values.size >= DEFAULTS.maxValues || text >= DEFAULTS.maxText) return;
    values.add(plain);
    if (plain.length < MIN_SECRET_LENGTH) return;
    for (const form of formsOf(plain)) {
      if (forms.has(form)) continue;
      forms.add(form);
      fresh.push(form);
      text += form.length;
    }
  };
  return {
    get size() {
      return values.size;
    },
    add(value) {
      keep(value);
      for (const part of partsOf(value)) keep(part);
    },
    look() {
      if (fresh.length === 0) return;
      while (layers.length > 0 && layers.at(-1)!.forms.length < 2 * fresh.length)
        fresh.push(...layers.pop()!.forms);
      layers.push({ forms: fresh, search: createTextSearch(fresh) });
      fresh = [];
    },
    has: (value) => values.has(value.trim()),
    findIn: (text) =>
      layers.flatMap(({ search }) => search.findIn(text)).filter((span) => counts(text, span)),
    get longest() {
      return Math.max(0, ...layers.map(({ search }) => search.longest));
    },
  };
}

const LETTERS = /^[A-Za-z]{1,16}$/;
const LETTER = /\p{L}/u;

function standsAlone(text: string, [from, to]: Span): boolean {
  return !LETTER.test(text.charAt(from - 1)) && !LETTER.test(text.charAt(to));
}

/** Shorter values occur by chance in ordinary text, so hiding them would only spoil it. */
export const MIN_SECRET_LENGTH = 6;

/** Words too common to hide, whatever they are the value of. */
const COMMON = new Set(
  (
    'enabled disabled production development staging testing sandbox default standard verbose warning silent localhost ' +
    '127.0.0.1 0.0.0.0 utf-8 application/json text/event-stream undefined true false null none string number boolean ' +
    'object array integer required optional missing invalid expired unknown basic bearer digest token password secret ' +
    'username anonymous hidden public private shared session cookie oauth oauth2 apikey api_key login logout success ' +
    'failed failure error pending active inactive value redacted'
  ).split(' '),
);

export function isCommonWord(text: string): boolean {
  return COMMON.has(text.toLowerCase());
}

/**
 * Every spelling in which one secret value can turn up inside a string: as it is, inside JSON,
 * in a URL (both ways of encoding, both cases of the hex digits) and inside base64.
 */
export function formsOf(secret: string): string[] {
  const forms = new Set<string>();
  const text = secret.trim();
  for (const plain of [secret, text]) {
    forms.add(plain);
    forms.add(JSON.stringify(plain).slice(1, -1));
  }
  const wellFormed = text.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const query = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  for (const url of [encoded, query, query.replaceAll('+', '%20'), encodeURI(wellFormed)]) {
    forms.add(url);
    forms.add(url.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  }
  for (const base64 of base64Cores(new TextEncoder().encode(wellFormed))) {
    forms.add(base64);
    forms.add(base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...forms].filter((form) => form.length >= MIN_SECRET_LENGTH);
}

/**
 * What base64 of any longer text must contain when the bytes stand in it. Base64 packs 3 bytes
 * into 4 characters, so there are three alignments; the characters at the edges also carry bits
 * of the neighbours and are left off.
 */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((shift) => {
    const padded = new Uint8Array(shift + bytes.length);
    padded.set(bytes, shift);
    const encoded = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join(''));
    const firstWhole = Math.ceil((8 * shift) / 6);
    const endWhole = Math.floor((8 * padded.length) / 6);
    return encoded.slice(firstWhole, endWhole);
  });
}
