import { words } from './words.ts';

const DEFAULTS = {
  /** Words that mean something; a piece with fewer is not a wish of its own, and stays with its neighbour. */
  leastWords: 2,
  /** Clauses looked at, as each costs an embedding: more find hardly more. */
  most: 16,
};

// The boundaries are single characters, as the pieces are trimmed anyway: looking for the end of each run of
// blanks from each blank in it would take quadratic time.

/** After a sentence's or a list item's end, and around dashes. Scripts without spaces have marks of their own. */
const SENTENCES = /(?<=[.!?;:])\s|(?<=[。！？；：])|[\n—–•]|\s-(?=\s)/u;
/** At commas, unless they stand in a number, and around brackets. */
const PHRASES = /(?<=,)\s|(?<=[，、])|[()（）]/u;
/** Before words that begin another step. */
const STEPS = /\s(?=(?:and|then|but|plus|or|so|while|before|after)\s)/iu;
/** Runs of letters; where a script sets no spaces, each character. */
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+/gu;

/**
 * The parts of an intent that may each ask for a tool of their own, in order; a short one is its only
 * clause.
 */
export function clauses(text: string): string[] {
  const pieces = [SENTENCES, PHRASES, STEPS].reduce<string[]>(
    (texts, boundary) => texts.flatMap((part) => part.split(boundary)),
    [text],
  );
  return joinShort(pieces.map((piece) => piece.trim()).filter((piece) => piece !== ''));
}

/** A piece that is too short, or whose predecessor is, goes with its predecessor. */
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
