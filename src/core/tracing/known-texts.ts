const DEFAULTS = {
  /** Longer texts are only found as a whole: searching for them inside others could take quadratic time. */
  maxLength: 1024,
  /** Shorter ones tried at one place when the longest does not fit. */
  attempts: 4,
};

/** Finds which of many texts stand inside another one, in one pass over it. */
export interface KnownTexts {
  /** Those that begin and end at the edge of a word; where several begin, the longest. */
  findIn(text: string, accepts: (known: string) => boolean): Found;
}

export interface Found {
  /** From left to right. */
  readonly texts: readonly string[];
  /** What stands between them, with spaces in their places. */
  readonly rest: string;
}

/** A sorted list: the longest known text at a place is next to where the rest of the text would stand in it. */
export function createKnownTexts(texts: Iterable<string>): KnownTexts {
  const known = [...new Set(texts)].filter(({ length }) => length <= DEFAULTS.maxLength).sort();
  const shortest = known.reduce((least, { length }) => Math.min(least, length), DEFAULTS.maxLength);

  const longestAt = (text: string, at: number, accepts: (known: string) => boolean): string | null => {
    let rest = text.slice(at, at + DEFAULTS.maxLength);
    for (let attempt = 0; attempt < DEFAULTS.attempts && rest.length >= shortest; ) {
      const candidate = known[upperBound(known, rest) - 1];
      if (candidate === undefined) return null;
      const common = commonLength(candidate, rest);
      if (common < candidate.length) {
        // What begins `rest` and comes before the candidate also begins the candidate.
        rest = rest.slice(0, common);
        continue;
      }
      if (isEdge(text, at + candidate.length) && accepts(candidate)) return candidate;
      rest = rest.slice(0, candidate.length - 1);
      attempt++;
    }
    return null;
  };

  return {
    findIn(text, accepts) {
      const texts: string[] = [];
      let rest = '';
      let end = 0;
      for (let at = 0; known.length > 0 && at + shortest <= text.length; ) {
        const hit = isEdge(text, at) ? longestAt(text, at, accepts) : null;
        if (hit !== null) {
          texts.push(hit);
          rest += `${text.slice(end, at)} `;
          end = at + hit.length;
        }
        at += hit?.length ?? 1;
      }
      return { texts, rest: rest + text.slice(end) };
    },
  };
}

/** Index of the first that is greater. */
function upperBound(sorted: readonly string[], value: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

const WORD = /[\p{L}\p{N}_-]/u;
/** By code: asked of every character of long texts. */
const ASCII_WORD = Array.from({ length: 128 }, (_, code) => WORD.test(String.fromCharCode(code)));

function isWord(text: string, at: number): boolean {
  return ASCII_WORD[text.charCodeAt(at)] ?? WORD.test(text.charAt(at));
}

function isEdge(text: string, at: number): boolean {
  return at === 0 || at === text.length || !isWord(text, at - 1) || !isWord(text, at);
}
