import { identifierWords } from './identifier-words.ts';
import { isOneSlip } from './one-slip.ts';

const DEFAULTS = {
  /** What the right name with a slip in it is worth; the name itself is worth 1. */
  slipScore: 0.7,
  /** Longer queries are sentences, and only what looks like an identifier in them is read as a name. */
  longestName: 80,
};

/** `read_file`, `files:read`, `readFile`, `resolve-library-id` within a sentence. */
const IDENTIFIER = /[\p{L}\p{N}]+(?:[_:./-]+[\p{L}\p{N}]+)+|\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu;
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

export function createNameIndex(tools: readonly Named[]): NameIndex {
  const spellings = tools.map(({ server, name }) => [
    identifierWords(name),
    identifierWords(`${server} ${name}`),
  ]);
  const exact = new Map<string, number[]>();
  const byLength = new Map<number, { readonly tool: number; readonly words: string }[]>();
  for (const [tool, [name, full]] of spellings.entries()) {
    for (const words of new Set([name!, full!])) {
      push(exact, squeezed(words), tool);
      push(byLength, squeezed(words).length, { tool, words });
    }
  }

  return {
    named(query) {
      const text = query.trim().replace(/\bmcp__/g, '');
      const whole = text.length <= DEFAULTS.longestName ? [text] : [];
      const inside: readonly string[] = text.match(IDENTIFIER) ?? [];
      const scores = new Map<number, number>();
      for (const name of [...whole, ...inside].map(identifierWords)) {
        for (const tool of exact.get(squeezed(name)) ?? []) scores.set(tool, 1);
      }
      if (scores.size > 0) return scores;
      for (const name of [...whole, ...inside.filter((each) => UNMISTAKABLE.test(each))]) {
        for (const tool of nearly(identifierWords(name))) scores.set(tool, DEFAULTS.slipScore);
      }
      return scores;
    },
  };

  /** The tools whose name this is with one slip in all, or one in each word. */
  function nearly(words: string): number[] {
    const bare = squeezed(words);
    const parts = words.split(' ');
    const reach = parts.length;
    const found: number[] = [];
    for (let length = bare.length - reach; length <= bare.length + reach; length++) {
      for (const other of byLength.get(length) ?? []) {
        const others = other.words.split(' ');
        const everyWord = others.length === reach && parts.every((part, i) => isOneSlip(part, others[i]!));
        if (everyWord || isOneSlip(bare, squeezed(other.words))) found.push(other.tool);
      }
    }
    return found;
  }
}

function squeezed(words: string): string {
  return words.replaceAll(' ', '');
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
