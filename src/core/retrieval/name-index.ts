import { distance } from 'fastest-levenshtein';
import { identifierWords } from './words.ts';

const DEFAULTS = {
  /** What the right name with a slip in it is worth; the name itself is worth 1. */
  slipScore: 0.7,
  /** Longer queries are sentences, and only what looks like an identifier in them is read as a name. */
  longestName: 80,
  /** In shorter words only swapped letters are a slip: with another letter they are often another word. */
  leastLength: 5,
  leastLengthOfSwap: 4,
};

/** `read_file`, `files:read`, `readFile`, `resolve-library-id` within a sentence. */
const IDENTIFIER = /[_:./-]|\p{Ll}\p{Lu}/u;
const WORD = /[\p{L}\p{N}]+(?:[_:./-]+[\p{L}\p{N}]+)*/gu;
/** Of these, what nobody writes but to name something: `e-mail` and `and/or` are words. */
const UNMISTAKABLE = /[_:]|\p{Ll}\p{Lu}/u;

export interface NameIndex {
  /**
   * 1 for each tool that the query calls by its name, less where there is a slip in it; no entry for
   * the others. Case and separators do not count, and the server may stand before the name.
   */
  named(query: string): ReadonlyMap<number, number>;
}

interface Named {
  readonly server: string;
  readonly name: string;
}

/** One way to say which tool is meant. */
interface Spelling {
  readonly tool: number;
  readonly words: readonly string[];
  /** The words without what is between them. */
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

  /** The tools whose name this is with one slip in all, or one in each word. */
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

function spell(tool: number, words: string): Spelling {
  return { tool, words: words.split(' '), bare: words.replaceAll(' ', '') };
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Whether one word is the other with one slip of the pen: a letter too many, too few, wrong, or two swapped. */
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

/** Whether the words are the same from these places on. */
function agree(word: string, at: number, other: string, otherAt: number): boolean {
  return word.length - at === other.length - otherAt && word.endsWith(other.slice(otherAt));
}

/** The word somebody meant; null when nothing is close. Case and separators do not count. */
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
