import { quotedSpans } from '../../vocabulary/text.ts';
import type { PastCall } from './call-memory.ts';

const DEFAULTS = {
  /** Past calls that had both, from which one may stand for the other, and how closely they must go together. */
  aliasCalls: 2,
  closeness: 0.5,
  /** Characters of a value that may have another name. */
  aliasCharacters: 40,
  /** Characters of an intent that are looked at, and values found in it. */
  characters: 4_000,
  most: 64,
  /** Words of a name: "San Francisco". */
  nameWords: 4,
  /** Words on either side that tell what a value is. */
  around: 4,
  /** Intents whose values are remembered. */
  remembered: 5_000,
};

export const VALUE_KINDS = [
  'text',
  'url',
  'email',
  'path',
  'date',
  'tag',
  'id',
  'number',
  'code',
  'name',
] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** A value in a text: the part that changes when people repeat the sentence with other values. */
export interface SpottedValue {
  /** As it would be given: without quotes, `#` and `@` kept. */
  readonly text: string;
  readonly kind: ValueKind;
  readonly isQuoted: boolean;
  /** Its place among those of its kind, and among all. */
  readonly nth: number;
  readonly place: number;
  /** Lower-case words before it, the nearest first, and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Quoted texts, paths, numbers, dates, names, addresses and ids of an intent, in order. */
function spotValues(intent: string): SpottedValue[] {
  // What reads like a reference of a plan is not a value: it would be followed.
  const text = intent.slice(0, DEFAULTS.characters).replaceAll('${', '  ');
  const found: { text: string; kind: ValueKind; isQuoted: boolean; start: number; end: number }[] = [];
  const quotes = quotedSpans(text).filter(({ text: inner }) => inner.trim() !== '');
  for (const { text: inner, start, end } of quotes)
    found.push({ text: inner, kind: kindOfQuoted(inner), isQuoted: true, start, end });
  let rest = text;
  for (const { start, end } of quotes)
    rest = `${rest.slice(0, start)}${'\u0000'.repeat(end - start)}${rest.slice(end)}`;
  const tokens = tokensOf(rest);
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const kind = kindOfToken(token.text);
    if (kind) {
      found.push({ text: token.text, kind, isQuoted: false, start: token.start, end: token.end });
      continue;
    }
    const length = nameAt(tokens, i);
    if (length === 0) continue;
    const last = tokens[i + length - 1]!;
    const name = rest.slice(token.start, last.end).replace(/['’]s$/, '');
    found.push({ text: name, kind: 'name', isQuoted: false, start: token.start, end: last.end });
    i += length - 1;
  }
  const counts = new Map<ValueKind, number>();
  return found
    .sort((a, b) => a.start - b.start)
    .slice(0, DEFAULTS.most)
    .map(({ start, end, ...value }, place) => {
      const nth = counts.get(value.kind) ?? 0;
      counts.set(value.kind, nth + 1);
      return {
        ...value,
        nth,
        place,
        before: wordsIn(text.slice(Math.max(0, start - 80), start))
          .reverse()
          .slice(0, DEFAULTS.around),
        after: wordsIn(text.slice(end, end + 80)).slice(0, DEFAULTS.around),
      };
    });
}

interface TokenAt {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The token before it ended a sentence. */
  readonly isFirst: boolean;
}

function tokensOf(text: string): TokenAt[] {
  const tokens: TokenAt[] = [];
  let isFirst = true;
  for (const { 0: piece, index } of text.matchAll(/[^\s\0]+/g)) {
    const lead = /^[([{<"'‘“]*/.exec(piece)![0].length;
    let end = piece.length;
    while (end > lead && '.,;:!?)]}>"\'’”'.includes(piece[end - 1]!)) end--;
    const inner = piece.slice(lead, end);
    if (inner !== '') tokens.push({ text: inner, start: index + lead, end: index + end, isFirst });
    isFirst = /[.!?:]["'”’)]*$/.test(piece);
  }
  return tokens;
}

function kindOfQuoted(text: string): ValueKind {
  return /\s/.test(text) ? 'text' : (kindOfToken(text) ?? (isCode(text) ? 'code' : 'text'));
}

const NUMBER = /^[$€£]?\d[\d,]*(?:\.\d+)?(?:%|[kKmM]|th|st|nd|rd)?$/;
const DATE = /^\d{4}-\d{1,2}-\d{1,2}$|^\d{1,2}\/\d{1,2}\/\d{2,4}$/;

function kindOfToken(text: string): ValueKind | null {
  if (text.length > 400) return 'text';
  if (/^https?:\/\/\S+$/.test(text)) return 'url';
  if (/^[^@\s]+@[^@\s]+\.[A-Za-z]+$/.test(text)) return 'email';
  if (/^[@#]\w+$/.test(text)) return /^#\d+$/.test(text) ? 'number' : 'tag';
  if (DATE.test(text)) return 'date';
  if (NUMBER.test(text)) return 'number';
  if (/^[~.]?\/?[\w-]+(?:\/[\w.-]+)+\/?$/.test(text) && text.includes('/') && !/^\w+\/\w+$/.test(text))
    return 'path';
  if (/^[\w-]+\.[A-Za-z]\w{0,5}$/.test(text) && !/^[A-Z]?[a-z]+\.[A-Z][a-z]+$/.test(text)) return 'path';
  if (/\d/.test(text) && /[A-Za-z]/.test(text) && /^[\w-]+$/.test(text)) return 'id';
  if (/^[A-Za-z]+_\w+$/.test(text)) return 'id';
  return isCode(text) ? 'code' : null;
}

function isCode(text: string): boolean {
  return /^[A-Z]{2,6}$/.test(text);
}

/** How many tokens from here are one name: capitalised, and not only because a sentence begins. */
function nameAt(tokens: readonly TokenAt[], at: number): number {
  let length = 0;
  while (length < DEFAULTS.nameWords) {
    const token = tokens[at + length];
    if (!token || !/^\p{Lu}[\p{L}'’-]*$/u.test(token.text) || (length > 0 && token.isFirst)) break;
    if (length === 0 && token.isFirst) break;
    if (/^I(?:['’]\w+)?$/.test(token.text)) break;
    // Something stands between, such as a comma.
    if (length > 0 && token.start - tokens[at + length - 1]!.end !== 1) break;
    length++;
  }
  return length;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** The number that a text says: `1,320.45`, `$50`, `#7423`; null where it says none. */
export function numberIn(text: string): number | null {
  const plain = text.replace(/^[$€£#]|[,%]|(?:th|st|nd|rd)$/g, '');
  const match = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(plain);
  if (!match) return null;
  const factor = { k: 1e3, m: 1e6 }[match[2]!.toLowerCase()] ?? 1;
  return Number(match[1]) * factor;
}

/** In [0, 1]: how alike two values stand in their texts, by kind, quotes, the words around and the order. */
export function likenessOf(a: SpottedValue, b: SpottedValue): number {
  const isNumber = (value: SpottedValue) => value.kind === 'number';
  if (isNumber(a) !== isNumber(b)) return 0;
  const kind = a.kind === b.kind ? 1 : a.isQuoted && b.isQuoted ? 0.7 : 0.2;
  const order = a.nth === b.nth ? 1 : 0.3;
  const quoted = a.isQuoted === b.isQuoted ? 1 : 0.4;
  return (
    0.35 * kind +
    0.3 * overlap(a.before, b.before) +
    0.1 * overlap(a.after, b.after) +
    0.15 * order +
    0.1 * quoted
  );
}

/** Of the nearest words those that both have, the nearer the more. */
function overlap(a: readonly string[], b: readonly string[]): number {
  let [shared, all] = [0, 0];
  for (const [i, word] of a.entries()) {
    const weight = 1 / (1 + i);
    all += weight;
    const at = b.indexOf(word);
    if (at !== -1) shared += weight / (1 + Math.abs(at - i) / 2);
  }
  return all === 0 ? 0 : shared / all;
}

/** A plain word that is a value: "in the archive folder". */
export function wordSlots(intent: string, value: string): SpottedValue[] {
  if (value.length < 2 || /\s/.test(value)) return [];
  return plainWords(intent).filter(({ text }) => text.toLowerCase() === value.toLowerCase());
}

/** The word that stands as a word stood: between the same neighbours, or as near as that. */
export function wordsAlike(
  slot: SpottedValue,
  intent: string,
): (SpottedValue & { readonly likeness: number }) | null {
  let best: (SpottedValue & { likeness: number }) | null = null;
  for (const word of plainWords(intent)) {
    if (COMMON.has(word.text.toLowerCase())) continue;
    const isBetween =
      (slot.after[0] !== undefined && slot.after[0] === word.after[0] && !COMMON.has(slot.after[0])) ||
      (slot.before[0] !== undefined &&
        slot.before[0] === word.before[0] &&
        slot.before[1] === word.before[1]);
    if (!isBetween) continue;
    const likeness = 0.3 + 0.35 * overlap(slot.before, word.before) + 0.35 * overlap(slot.after, word.after);
    if (!best || likeness > best.likeness) best = { ...word, likeness };
  }
  return best;
}

const COMMON = new Set(
  `a an the this that these those my our your his her its their of in on at to for from by with and or is are was be it i
  you we they as into me please could would can will`.split(/\s+/),
);

const knownWords = new Map<string, readonly SpottedValue[]>();

function plainWords(intent: string): readonly SpottedValue[] {
  return remembered(knownWords, intent, () => {
    const text = intent.slice(0, DEFAULTS.characters);
    const found = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map(({ 0: word }) => word);
    const lower = found.map((word) => word.toLowerCase());
    return found.map((word, i) => ({
      text: word,
      kind: 'text' as const,
      isQuoted: false,
      nth: 0,
      place: -1 - i,
      before: lower.slice(Math.max(0, i - DEFAULTS.around), i).reverse(),
      after: lower.slice(i + 1, i + 1 + DEFAULTS.around),
    }));
  });
}

const knownSpots = new Map<string, readonly SpottedValue[]>();

/** The same as `spotValues`, read once: past intents are looked at again and again. */
export function spotsIn(intent: string): readonly SpottedValue[] {
  return remembered(knownSpots, intent, () => spotValues(intent));
}

function remembered<T>(memory: Map<string, T>, key: string, make: () => T): T {
  const known = memory.get(key);
  if (known !== undefined) return known;
  if (memory.size >= DEFAULTS.remembered) memory.clear();
  const made = make();
  memory.set(key, made);
  return made;
}

/** What a text in an intent stands for in arguments: `San Francisco` for `SFO`; undefined: itself. */
export type AliasOf = (text: string) => string | undefined;

/**
 * Texts of intents that went together with one value of the calls, and the value with them: the count of both, squared,
 * over the product of the counts of each (the squared cosine of their occurrences).
 */
export function learnAliases(past: readonly PastCall[]): AliasOf {
  const texts = new Map<string, number>();
  const values = new Map<string, number>();
  const both = new Map<string, Map<string, number>>();
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { intent, arguments: args, within } of past) {
    // What an earlier call of the run gave is taken from there again.
    const isGiven = (value: string) => within.some((known) => !known.isArgument && known.value === value);
    const said = new Set(
      spotsIn(intent)
        .filter(isNaming)
        .map(({ text }) => text.toLowerCase()),
    );
    const given = new Set(
      Object.values(args)
        .filter(isShort)
        .filter((value) => !isGiven(value)),
    );
    for (const value of given) count(values, value);
    for (const text of said) {
      count(texts, text);
      const own = both.get(text) ?? new Map<string, number>();
      both.set(text, own);
      for (const value of given) if (!said.has(value.toLowerCase())) count(own, value);
    }
  }
  return (text) => {
    const key = text.toLowerCase();
    const ranked = [...(both.get(key) ?? [])]
      .filter(([, calls]) => calls >= DEFAULTS.aliasCalls)
      .map(([value, calls]) => ({ value, closeness: calls ** 2 / (texts.get(key)! * values.get(value)!) }))
      .sort((a, b) => b.closeness - a.closeness);
    const [best] = ranked;
    return best && best.closeness >= DEFAULTS.closeness ? best.value : undefined;
  };
}

function isNaming({ kind, isQuoted }: SpottedValue): boolean {
  return kind === 'name' || (isQuoted && kind === 'text');
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= DEFAULTS.aliasCharacters;
}
