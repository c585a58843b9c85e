const DEFAULTS = {
  /** Secrets of one run that are searched for everywhere; further ones are hidden only where they are recognised. */
  maxValues: 4_000,
  /** Total length of all their spellings, in UTF-16 units. */
  maxText: 1024 * 1024,
  /** Longer secrets are not searched for elsewhere. */
  maxLength: 8_192,
  /** Shorter secrets are hidden only where they are the whole value. */
  minWhole: 4,
  /** Shortest part of a longer secret, with letters and digits, that is searched for by itself. */
  minPart: 10,
  /** Most leaves read from one value that is secret as a whole. */
  maxLeaves: 1_000,
  maxDepth: 64,
};

/**
 * What was recognised as secret in one run, by its name or its shape: the same value is hidden in every
 * other place, even where neither name nor shape gives it away.
 */
export interface FoundSecrets {
  /** Number of secrets; it only grows. */
  readonly size: number;
  add(value: string): void;
  /** Whether this exact value is one of them. */
  has(value: string): boolean;
  /** From now on, `findIn` also finds the secrets added since the last call. */
  look(): void;
  findIn(text: string): readonly Span[];
  readonly longest: number;
}

const SEPARATOR = /[\s;,=/&:@?"'\\]/;

/** The parts of a secret block, cookie or URL that look random: these are the secret, the rest is common text. */
function partsOf(secret: string): string[] {
  if (secret.length > DEFAULTS.maxLength || !SEPARATOR.test(secret)) return [];
  const parts = secret.replace(/\\[nrt]/g, ' ').split(SEPARATOR, DEFAULTS.maxLeaves);
  return parts.filter((part) => part.length >= DEFAULTS.minPart && /\d/.test(part) && /[A-Za-z]/.test(part));
}

/** Adds every text and number of a value that is secret as a whole, line by line. */
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
  /** Largest first, each at least twice as large as the next: adding remains cheap, and layers remain few. */
  const layers: { readonly forms: readonly string[]; readonly search: TextSearch }[] = [];
  /** A secret that is a plain word is only hidden where it stands as a separate word. */
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

/** Shorter values occur by chance in ordinary text, so hiding them would only damage the text. */
export const MIN_SECRET_LENGTH = 6;

/** Words too common to hide, even as the value of a secret name. */
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
 * Every spelling in which a secret can occur inside a string: as it is, inside JSON, in a URL (both ways
 * of encoding, both cases of the hex digits) and inside base64.
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
 * Substrings that base64 of any longer text must contain when it contains these bytes. Base64 packs
 * 3 bytes into 4 characters, so there are three alignments; the characters at the edges also carry
 * bits of the neighbours and are left out.
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

/** Half-open range of a string. */
export type Span = readonly [start: number, end: number];

/** Finds every occurrence of many texts, in one pass over the searched text. */
export interface TextSearch {
  /** Length of the longest text. */
  readonly longest: number;
  findIn(text: string): Span[];
}

/**
 * Aho and Corasick, "Efficient string matching: an aid to bibliographic search" (1975): a trie whose nodes link to
 * their longest proper suffix in the trie. Time is linear in the length of the text, even for texts chosen to
 * be slow. Of the texts that end at one place, only the longest is reported.
 */
export function createTextSearch(texts: Iterable<string>): TextSearch {
  /** Child node by `node * 65536 + code unit`. */
  const children = new Map<number, number>();
  /** For each node, the length of the longest text that ends there, or 0. */
  const ends = [0];
  const fallback = [0];
  /** Whether some text begins with three characters of this hash: at most places the trie is not needed. */
  const begins = new Uint8Array(65_536);
  const order: { readonly node: number; readonly parent: number; readonly code: number }[] = [];
  let longest = 0;
  for (const text of texts) {
    if (text.length < 3) continue;
    begins[hashAt(text, 0)] = 1;
    longest = Math.max(longest, text.length);
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const key = node * 65_536 + code;
      let child = children.get(key);
      if (child === undefined) {
        child = ends.length;
        children.set(key, child);
        ends.push(0);
        fallback.push(0);
        order.push({ node: child, parent: node, code });
      }
      node = child;
    }
    ends[node] = text.length;
  }
  linkSuffixes();

  function step(from: number, code: number): number {
    for (let node = from; ; node = fallback[node]!) {
      const child = children.get(node * 65_536 + code);
      if (child !== undefined) return child;
      if (node === 0) return 0;
    }
  }

  /** Breadth first: a suffix is shorter than its node, so its link is already known. */
  function linkSuffixes(): void {
    const depth = new Int32Array(ends.length);
    for (const { node, parent } of order) depth[node] = depth[parent]! + 1;
    order.sort((a, b) => depth[a.node]! - depth[b.node]!);
    for (const { node, parent, code } of order) {
      if (parent !== 0) fallback[node] = step(fallback[parent]!, code);
      ends[node] ||= ends[fallback[node]!]!;
    }
  }

  return {
    longest,
    findIn(text) {
      const spans: Span[] = [];
      if (longest === 0) return spans;
      let node = 0;
      for (let at = 0; at < text.length; at++) {
        if (node === 0 && begins[hashAt(text, at)] === 0) continue;
        node = step(node, text.charCodeAt(at));
        const length = ends[node]!;
        if (length > 0) spans.push([at + 1 - length, at + 1]);
      }
      return spans;
    },
  };
}

function hashAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff;
}
