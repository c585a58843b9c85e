/** Room for what programs print, in bytes of UTF-8, a line break after each line included. */
export interface ConsoleBudget {
  /** What of the text fits, in whole characters; null when nothing does. */
  take(text: string): string | null;
  readonly isFull: boolean;
  readonly isTruncated: boolean;
}

export function createConsoleBudget(bytes: number): ConsoleBudget {
  const encoder = new TextEncoder();
  let left = bytes;
  let isTruncated = false;
  return {
    get isFull() {
      return left <= 0;
    },
    get isTruncated() {
      return isTruncated;
    },
    take(text) {
      const whole = encoder.encode(text);
      const fits = whole.length + 1 <= left;
      isTruncated ||= !fits;
      if (left <= 1 && !fits) return null;
      // A character cut in two is left out: the decoder waits for the rest of it.
      const kept = fits ? text : new TextDecoder().decode(whole.subarray(0, left - 1), { stream: true });
      left = fits ? left - whole.length - 1 : 0;
      return kept;
    },
  };
}
