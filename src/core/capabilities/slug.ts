import { isSlug } from '../vocabulary/ids.ts';
import { oneLine } from './one-line.ts';
import { FILLERS, wordsOf } from './public-words.ts';

const DEFAULTS = {
  maxWords: 5,
  /** Characters of a slug before a number is added. */
  maxSlug: 40,
  /** Characters of a description. */
  maxDescription: 200,
};

export interface Purpose {
  /** What may be told of the intent: `publicIntent`. */
  readonly intent: string;
  /** Ids of the tools it uses, in order of use. */
  readonly tools: readonly string[];
}

/** A slug is used as a name in code, and `capabilities` must not look like a promise or an object's machinery. */
const RESERVED = new Set(
  (
    'arguments async await break case catch class const constructor continue debugger default delete do else enum ' +
    'eval export extends false finally for function get if implements import in instanceof interface let name new ' +
    'null of package private protected public return set static super switch then this throw true try typeof ' +
    'undefined var void while with yield'
  ).split(' '),
);

/**
 * A readable name that nothing else has: two to five words of what was wanted, else the tools' names.
 * `taken`: slugs and aliases.
 */
export function slugFor({ intent, tools, taken }: Purpose & { readonly taken: Iterable<string> }): string {
  const words = wordsOf(intent).filter((word) => !FILLERS.has(word));
  const named = words.length >= 2 ? joined(words) : toolSlug(tools) || joined(words);
  const slug = isSlug(named) && !isReserved(named) ? named : `run_${named || 'task'}`;
  const others = new Set(taken);
  if (!others.has(slug)) return slug;
  let count = 2;
  while (others.has(`${slug}_${count}`)) count++;
  return `${slug}_${count}`;
}

export function isReserved(slug: string): boolean {
  return RESERVED.has(slug) || slug in {};
}

/** One sentence for people and models that look for it: what was wanted, and with what. */
export function describeCapability({ intent, tools }: Purpose): string {
  const names = [...new Set(tools)];
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0];
  const words = wordsOf(intent).filter((word) => !FILLERS.has(word)).length;
  if (words < 2) return oneLine(list ? `Runs ${list}.` : 'Runs a piece of code.', DEFAULTS.maxDescription);
  const line = oneLine(intent, DEFAULTS.maxDescription);
  const wanted = `${line[0]?.toUpperCase()}${line.slice(1)}`;
  const whole = list ? `${wanted}, with ${list}.` : `${wanted}.`;
  return whole.length <= DEFAULTS.maxDescription ? whole : `${wanted}.`;
}

/** `filesystem:read_file`, `filesystem:write_file` -> `read_file_and_write_file`. */
function toolSlug(tools: readonly string[]): string {
  const names = [...new Set(tools.map((tool) => wordsOf(tool.slice(tool.indexOf(':') + 1)).join('_')))];
  const [first, last] = [names[0] ?? '', names.at(-1) ?? ''];
  const both = first === last ? first : `${first}_and_${last}`;
  return both.length <= DEFAULTS.maxSlug ? both : joined(first.split('_'));
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
