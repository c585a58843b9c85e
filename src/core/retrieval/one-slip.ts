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
