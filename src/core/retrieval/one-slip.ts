import { distance } from 'fastest-levenshtein';

const DEFAULTS = {
  /** In shorter words only swapped letters are a slip: with another letter they are often another word. */
  leastLength: 5,
  leastLengthOfSwap: 4,
};

/** Whether one word is the other with one slip of the pen: a letter too many, too few, wrong, or two swapped. */
export function isOneSlip(word: string, other: string): boolean {
  if (word === other) return true;
  const length = Math.min(word.length, other.length);
  if (Math.abs(word.length - other.length) > 1 || length < DEFAULTS.leastLengthOfSwap) return false;
  return isSwap(word, other) || (length >= DEFAULTS.leastLength && distance(word, other) === 1);
}

function isSwap(word: string, other: string): boolean {
  if (word.length !== other.length) return false;
  let i = 0;
  while (word[i] === other[i]) i++;
  return word[i] === other[i + 1] && word[i + 1] === other[i] && word.slice(i + 2) === other.slice(i + 2);
}
