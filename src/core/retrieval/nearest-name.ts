import { distance } from 'fastest-levenshtein';

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
