import { isSlug } from '../vocabulary/ids.ts';
import { oneLine } from './one-line.ts';

const DEFAULTS = {
  maxWords: 5,
  /** Characters of a slug before a number is added. */
  maxSlug: 40,
  /** Characters of a description. */
  maxDescription: 200,
};

export interface Purpose {
  readonly intent: string | null;
  /** Ids of the tools it uses, in order of use. */
  readonly tools: readonly string[];
}

/** Words that do not tell one task from another. */
const FILLERS = new Set(
  (
    'a about after all also an and any are as at be been by can could do does each every for from get give has have ' +
    'how i if in into is it its just let like me my need now of on or our out please should so some than that the ' +
    'their them then there these this those to up us use using want was we were what when where which will with ' +
    'would you your'
  ).split(' '),
);

/** A slug is used as a name in code, and `capabilities` must not look like a promise or an object's machinery. */
const RESERVED = new Set(
  (
    'arguments async await break case catch class const constructor continue debugger default delete do else enum ' +
    'eval export extends false finally for function get if implements import in instanceof interface let name new ' +
    'null of package private protected public return set static super switch then this throw true try typeof ' +
    'undefined var void while with yield'
  ).split(' '),
);

/** A word that stands for a value and not for the task: an address, a path, a number. */
const VALUE = /[/\\@\d]/;
const QUOTES = '"`\'';
const FILE_ENDING = /\.\w{1,5}(?:$|[,;:!?])/g;

/** `GitHub` is one word, unlike `readFile`. */
const PROPER = /(?<![\p{L}\p{N}])\p{Lu}\S*/gu;

/**
 * A readable name that nothing else has: two to five words of what somebody wanted, else the tools' names.
 * `taken`: slugs and aliases.
 */
export function slugFor({ intent, tools, taken }: Purpose & { readonly taken: Iterable<string> }): string {
  const text = withoutValues(intent ?? '').replace(PROPER, (name) => name.toLowerCase());
  const words = wordsOf(text).filter((word) => !FILLERS.has(word));
  const named = words.length >= 2 ? joined(words) : toolSlug(tools) || joined(words);
  const slug = isSlug(named) && !isReserved(named) ? named : `run_${named || 'task'}`;
  const others = new Set(taken);
  if (!others.has(slug)) return slug;
  let count = 2;
  while (others.has(`${slug}_${count}`)) count++;
  return `${slug}_${count}`;
}

/** Without quoted text, addresses, paths, file names and numbers. */
function withoutValues(text: string): string {
  const left = withoutQuotes(text)
    .split(/\s/)
    .map((word) => {
      if (VALUE.test(word)) return '';
      const ending = word.matchAll(FILE_ENDING).toArray().at(-1);
      return ending && ending.index > 0 ? word.slice(ending.index + ending[0].length) : word;
    });
  return left.join(' ');
}

/** A quote that is never closed is an apostrophe or a mark of inches; its end is looked for once. */
function withoutQuotes(text: string): string {
  const unpaired = new Set<string>();
  let left = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]!;
    if (!QUOTES.includes(mark) || unpaired.has(mark)) continue;
    if (mark === "'" && /\p{L}/u.test(text[at - 1] ?? '')) continue;
    const end = text.indexOf(mark, at + 1);
    if (end === -1) {
      unpaired.add(mark);
      continue;
    }
    left += `${text.slice(from, at)} `;
    at = end;
    from = end + 1;
  }
  return left + text.slice(from);
}

export function isReserved(slug: string): boolean {
  return RESERVED.has(slug) || slug in {};
}

/** One sentence for people and models that look for it. */
export function describeCapability({ intent, tools }: Purpose): string {
  const line = oneLine(intent, DEFAULTS.maxDescription);
  if (/[\p{L}\p{N}]/u.test(line)) {
    const sentence = `${line[0]?.toUpperCase()}${line.slice(1)}`;
    return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
  }
  const names = [...new Set(tools)];
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0];
  return oneLine(list ? `Runs ${list}.` : 'Runs a piece of code.', DEFAULTS.maxDescription);
}

/** `filesystem:read_file`, `filesystem:write_file` -> `read_file_and_write_file`. */
function toolSlug(tools: readonly string[]): string {
  const names = [...new Set(tools.map((tool) => wordsOf(tool.slice(tool.indexOf(':') + 1)).join('_')))];
  const [first, last] = [names[0] ?? '', names.at(-1) ?? ''];
  const both = first === last ? first : `${first}_and_${last}`;
  return both.length <= DEFAULTS.maxSlug ? both : joined(first.split('_'));
}

/** Lower-case Latin words; `readFile` is two of them. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  const apart = plain.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').toLowerCase();
  return apart.split(/[^a-z0-9]+/).filter((word) => word !== '');
}

/** As many words as fit; the first one is cut if it must be. */
function joined(words: readonly string[]): string {
  let slug = (words[0] ?? '').slice(0, DEFAULTS.maxSlug);
  for (const word of words.slice(1, DEFAULTS.maxWords)) {
    if (slug.length + 1 + word.length > DEFAULTS.maxSlug) break;
    slug = `${slug}_${word}`;
  }
  return slug;
}
