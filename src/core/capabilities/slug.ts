import { isSlug } from '../vocabulary/ids.ts';
import { oneLine } from '../vocabulary/text.ts';
import { isStopWord } from './name-routine.ts';

const DEFAULTS = {
  maxWords: 7,
  /** Characters of a slug before a number is added. */
  maxSlug: 40,
  /** Characters of a description. */
  maxDescription: 200,
};

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
 * The first of these names, each given as its words, that nothing else has; else the first with a number. `taken`: slugs
 * and aliases of others.
 */
export function slugFor(names: readonly (readonly string[])[], taken: Iterable<string>): string {
  const others = new Set(taken);
  const slugs = names.map(joined).filter((slug) => slug !== '');
  const valid = (slugs.length > 0 ? slugs : ['task']).map((slug) =>
    isSlug(slug) && !isReserved(slug) ? slug : `run_${slug}`,
  );
  const free = valid.find((slug) => !others.has(slug));
  if (free !== undefined) return free;
  const [first] = valid;
  let count = 2;
  while (others.has(`${first}_${count}`)) count++;
  return `${first}_${count}`;
}

export function isReserved(slug: string): boolean {
  return RESERVED.has(slug) || slug in {};
}

/** Without a piece of a word, or a stop word at an end, as names of earlier versions may have them. */
export function isWellNamed(slug: string): boolean {
  const parts = slug.split('_');
  return (
    parts.every((part) => part.length > 1 || /\d/.test(part)) &&
    !isStopWord(parts[0]!) &&
    !isStopWord(parts.at(-1)!)
  );
}

/** As many words as fit, without a stop word at the end; the first one is cut if it must be. */
function joined(words: readonly string[]): string {
  const kept: string[] = [];
  for (const word of words.slice(0, DEFAULTS.maxWords)) {
    const slug = [...kept, word].join('_');
    if (kept.length > 0 && slug.length > DEFAULTS.maxSlug) break;
    kept.push(word.slice(0, DEFAULTS.maxSlug));
  }
  while (kept.length > 1 && isStopWord(kept.at(-1)!)) kept.pop();
  return kept.join('_');
}

/** One sentence for people and models that look for it: what it does, and with what. */
export function describeCapability(slug: string, tools: readonly string[]): string {
  const names = [...new Set(tools)];
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0];
  const phrase = phraseOf(slug);
  const does = `${phrase[0]?.toUpperCase()}${phrase.slice(1)}`;
  const whole = list ? `${does}, with ${list}.` : `${does}.`;
  if (whole.length <= DEFAULTS.maxDescription) return oneLine(whole, DEFAULTS.maxDescription);
  return oneLine(`${does}, with ${names.length} tools.`, DEFAULTS.maxDescription);
}

/** `measure_notes` as an intent: what it is run for where nobody says. */
export function phraseOf(slug: string): string {
  return slug.replaceAll('_', ' ');
}
