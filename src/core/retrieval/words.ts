import { distance } from 'fastest-levenshtein';
import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { RELATED_WORDS, RELATED_WORDS_OF } from './related-words.ts';

const DEFAULTS = {
  /** Least number of meaningful words; a shorter piece is not a request and is joined to its neighbour. */
  leastWords: 2,
  /** Most clauses used, since each costs an embedding and more hardly help. */
  most: 16,
  /** Score of the right name with a typo; the exact name scores 1. */
  slipScore: 0.7,
  /** Longer queries are sentences, in which only identifiers are read as names. */
  longestName: 80,
  /** In shorter words only swapped letters count as a typo: with another letter they are often another word. */
  leastLength: 5,
  leastLengthOfSwap: 4,
  /** Fewer tools of a server tell nothing about what their names have in common. */
  leastNames: 4,
};

/** Function words of English and polite phrases, which say nothing about the tool. */
const STOP_WORDS = new Set(
  `a an the this that these those such same other each both all any some few more most no nor not only own than too very
  i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
  it its itself they them their theirs themselves who whom which what when where why how here there
  am is are was were be been being have has had having do does did doing can could may might must shall should will would
  and or but if because as until while so then once again further now just
  of at by for with about against between into through during before after above below to from up down in out on off over
  under s t d ll m o re ve don didn doesn isn aren wasn weren won wouldn couldn shouldn haven hasn hadn
  please want need like let`.split(/\s+/),
);

/** Lower-case words of a text; identifiers are split, and each word is reduced to its stem. */
export function words(text: string): string[] {
  return identifierWords(text.replace(/[^\p{L}\p{N}_\-.:/\s]+/gu, ' '))
    .split(' ')
    .filter((word) => word !== '' && !STOP_WORDS.has(word))
    .map(stem);
}

/**
 * A part of Porter's stemmer (1980), enough for the names and actions of tools: files and file, queries and
 * query, booking, booked and book, translates and translating.
 */
function stem(word: string): string {
  const base = withoutEnding(singular(word));
  if (base.length < 3) return word;
  const last = base.at(-1)!;
  const isDoubled = last === base.at(-2) && !'lsfz'.includes(last);
  return isDoubled || last === 'e' ? base.slice(0, -1) : base;
}

/** Removes -ing or -ed, unless no vowel remains (string, red) or it is -eed (need). */
function withoutEnding(word: string): string {
  const length = word.endsWith('ing') ? 3 : word.endsWith('ed') && !word.endsWith('eed') ? 2 : 0;
  const rest = word.slice(0, word.length - length);
  return length > 0 && /[aeiouy]/.test(rest) ? rest : word;
}

function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 3 && word.endsWith('s') && !/(ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}

/** `readFile`, `read_file`, `read-file` -> `read file`: language models know words, not identifiers. */
export function identifierWords(identifier: string): string {
  return identifier
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[\s_\-.:/]+/g, ' ')
    .trim()
    .toLowerCase();
}

/**
 * The embedded text of a tool: name and server as words, the description, the names of the parameters.
 * Compared with the bare description this raises cosine search on livemcp from MRR .39 to .49 and leaves
 * mcpbench unchanged; identifiers that are not split cost .02. In the phrase "name in server", a server
 * that says nothing (one for all tools) does less harm than at the beginning.
 */
export function toolText(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>,
): string {
  const parameters = parameterNames(tool.inputSchema).map(identifierWords);
  const head = `${identifierWords(tool.name)} in ${identifierWords(tool.server)}: ${tool.description.trim()}`;
  return parameters.length === 0 ? head : `${head} (${parameters.join(', ')})`;
}

/** The top-level properties of a JSON Schema, as the server lists them. */
function parameterNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties } = schema as { properties?: unknown };
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/**
 * The text of a tool for word search: the embedded text, and the name once more, because it is the
 * shortest accurate description.
 */
export function toolWords(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>,
): string[] {
  return [...words(tool.name), ...words(toolText(tool))];
}

/** A word that tools use, and how near it is in meaning: a cosine. */
export type RelatedWord = readonly [word: string, cosine: number];

/** Digits of the codes in related-words.ts. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
let targets: readonly string[] = [];
let codes: ReadonlyMap<string, string> | undefined;

/**
 * Words of tools that mean nearly the same as a word, all of them stems, the nearest first; scripts/relate-words.ts made
 * the table with the encoder. A code has three digits per word: two for its place, one for the cosine, from .5 to 1.
 */
export function relatedWords(word: string): RelatedWord[] {
  if (!codes) {
    targets = RELATED_WORDS.split(' ');
    codes = new Map(RELATED_WORDS_OF.split(' ').map((entry) => entry.split('=') as [string, string]));
  }
  const code = codes.get(word) ?? '';
  const digit = (at: number) => DIGITS.indexOf(code[at]!);
  return Array.from({ length: code.length / 3 }, (_, i) => [
    targets[64 * digit(3 * i) + digit(3 * i + 1)]!,
    0.5 + digit(3 * i + 2) / 126,
  ]);
}

const FILE_NAME =
  /(?<![\w/.@-])[\w-]+\.(?:txt|md|docx?|odt|xlsx?|pptx?|pdf|csv|json|ya?ml|xml|html?|png|jpe?g|gif|svg|mp3|mp4|wav|mov|zip|tar|gz|log|py|js|ts|sh|sql)\b/giu;
const DOMAIN_NAME = /(?<![\w/.@-])[\w-]+\.(?:com|org|net)\b(?!\/)/giu;

/** Says what a name in a query stands for, which neither words nor vectors tell: `report.doc` -> `file report.doc`. */
export function withKinds(query: string): string {
  const named = (kind: string) => (name: string, at: number, text: string) =>
    text.slice(0, at).trimEnd().toLowerCase().endsWith(kind) ? name : `${kind} ${name}`;
  return query.replace(FILE_NAME, named('file')).replace(DOMAIN_NAME, named('domain'));
}

// The boundaries are single characters, since the pieces are trimmed anyway: searching for the end of each run
// of blanks from each blank in it would take quadratic time.

/** After the end of a sentence or list item, and around dashes. Scripts without spaces have their own marks. */
const SENTENCES = /(?<=[.!?;:])\s|(?<=[。！？；：])|[\n—–•]|\s-(?=\s)/u;
/** At commas outside numbers, and around brackets. */
const PHRASES = /(?<=,)\s|(?<=[，、])|[()（）]/u;
/** Before words that begin another step. */
const STEPS = /\s(?=(?:and|then|but|plus|or|so|while|before|after)\s)/iu;
/** Runs of letters; in scripts without spaces, single characters. */
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+/gu;

/**
 * The parts of an intent that may each need their own tool, in order; a short intent is a single
 * clause.
 */
export function clauses(text: string): string[] {
  const pieces = [SENTENCES, PHRASES, STEPS].reduce<string[]>(
    (texts, boundary) => texts.flatMap((part) => part.split(boundary)),
    [text],
  );
  return joinShort(pieces.map((piece) => piece.trim()).filter((piece) => piece !== ''));
}

/** Joins a piece to its predecessor if either is too short. */
function joinShort(parts: readonly string[]): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isShort =
      last !== undefined &&
      (countWords(part) < DEFAULTS.leastWords || countWords(last) < DEFAULTS.leastWords);
    if (isShort) joined[joined.length - 1] = `${last} ${part}`;
    else if (joined.length === DEFAULTS.most) break;
    else joined.push(part);
  }
  return joined;
}

function countWords(text: string): number {
  return words(text).join(' ').match(WORDS)?.length ?? 0;
}

/** `read_file`, `files:read`, `readFile`, `resolve-library-id` within a sentence. */
const IDENTIFIER = /[_:./-]|\p{Ll}\p{Lu}/u;
const WORD = /[\p{L}\p{N}]+(?:[_:./-]+[\p{L}\p{N}]+)*/gu;
/** Identifiers that cannot be ordinary words, unlike `e-mail` and `and/or`. */
const UNMISTAKABLE = /[_:]|\p{Ll}\p{Lu}/u;

export interface NameIndex {
  /**
   * 1 for each tool that the query names, less if the name has a typo; no entry for other tools.
   * Case and separators are ignored, and the server may precede the name.
   */
  named(query: string): ReadonlyMap<number, number>;
}

interface Named {
  readonly server: string;
  readonly name: string;
}

/** One way to name a tool. */
interface Spelling {
  readonly tool: number;
  readonly words: readonly string[];
  /** The words without separators. */
  readonly bare: string;
}

export function createNameIndex(tools: readonly Named[]): NameIndex {
  const exact = new Map<string, number[]>();
  const byLength = new Map<number, Spelling[]>();
  for (const [tool, { server, name }] of tools.entries()) {
    for (const words of new Set([identifierWords(name), identifierWords(`${server} ${name}`)])) {
      const spelling = spell(tool, words);
      push(exact, spelling.bare, tool);
      push(byLength, spelling.bare.length, spelling);
    }
  }

  return {
    named(query) {
      const text = query.trim().replace(/\bmcp__/g, '');
      const whole = text.length <= DEFAULTS.longestName ? [text] : [];
      const inside = (text.match(WORD) ?? []).filter((word) => IDENTIFIER.test(word));
      const scores = new Map<number, number>();
      for (const name of [...whole, ...inside].map(identifierWords)) {
        for (const tool of exact.get(name.replaceAll(' ', '')) ?? []) scores.set(tool, 1);
      }
      if (scores.size > 0) return scores;
      for (const name of [...whole, ...inside.filter((each) => UNMISTAKABLE.test(each))]) {
        for (const tool of nearly(identifierWords(name))) scores.set(tool, DEFAULTS.slipScore);
      }
      return scores;
    },
  };

  /** The tools with this name, with one typo in total or one in each word. */
  function nearly(text: string): number[] {
    const { words, bare } = spell(-1, text);
    const found: number[] = [];
    for (let length = bare.length - words.length; length <= bare.length + words.length; length++) {
      for (const other of byLength.get(length) ?? []) {
        const inWords =
          other.words.length === words.length && words.every((word, i) => isOneSlip(word, other.words[i]!));
        if (inWords || isOneSlip(bare, other.bare)) found.push(other.tool);
      }
    }
    return found;
  }
}

/**
 * By word, the tools of which it is the whole name, apart from what most names of their server begin with: `commit` for
 * `git_commit` beside `git_push`. Not `move` for `move_file` beside `read_file`: what follows the verb is its object.
 */
export function createVerbIndex(tools: readonly Named[]): ReadonlyMap<string, readonly number[]> {
  const byServer = new Map<string, { tool: number; words: readonly string[] }[]>();
  for (const [tool, { server, name }] of tools.entries())
    push(byServer, server, { tool, words: [...new Set(words(name))] });
  const verbs = new Map<string, number[]>();
  for (const named of byServer.values()) {
    const counts = new Map<string, number>();
    for (const word of named.flatMap((each) => each.words)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const isCommon = (word: string) =>
      named.length >= DEFAULTS.leastNames && counts.get(word)! > named.length / 2;
    for (const { tool, words: all } of named) {
      const own = all.filter((word) => !isCommon(word));
      if (own.length === 1 && own[0] === all.at(-1)) push(verbs, own[0]!, tool);
    }
  }
  return verbs;
}

function spell(tool: number, words: string): Spelling {
  return { tool, words: words.split(' '), bare: words.replaceAll(' ', '') };
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Whether one word is the other with one typo: a letter too many, too few, wrong, or two swapped. */
export function isOneSlip(word: string, other: string): boolean {
  if (word === other) return true;
  const length = Math.min(word.length, other.length);
  if (Math.abs(word.length - other.length) > 1 || length < DEFAULTS.leastLengthOfSwap) return false;
  let i = 0;
  while (word[i] === other[i]) i++;
  const isSwap = word[i] === other[i + 1] && word[i + 1] === other[i] && agree(word, i + 2, other, i + 2);
  if (isSwap || length < DEFAULTS.leastLength) return isSwap;
  return agree(word, i + 1, other, i + 1) || agree(word, i + 1, other, i) || agree(word, i, other, i + 1);
}

/** Whether the words are equal from these indices on. */
function agree(word: string, at: number, other: string, otherAt: number): boolean {
  return word.length - at === other.length - otherAt && word.endsWith(other.slice(otherAt));
}

/** The intended name; null if none is close. Case and separators are ignored. */
export function nearestName(word: string, valid: readonly string[]): string | null {
  const bare = normalise(word);
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of valid) {
    const other = normalise(candidate);
    const cost = isSlip(bare, other) ? 1 : distance(bare, other);
    if (cost < least && cost <= Math.max(1, Math.floor(Math.max(bare.length, other.length) / 3))) {
      best = candidate;
      least = cost;
    }
  }
  return best;
}

/** Swapped letters (`plm`), or the end of the right word (`servers`). */
function isSlip(word: string, other: string): boolean {
  return sorted(word) === sorted(other) || (word.length >= 4 && other.endsWith(word));
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

function normalise(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '');
}
