/** Random numbers that depend on the seed only, on every machine. */
export interface Random {
  /** Uniform in [0, 1), with 32 random bits. */
  next(): number;
  /** Uniform among 0 … n - 1. */
  int(n: number): number;
  /** Standard normal. */
  normal(): number;
  /** Shuffles in place (Fisher-Yates) and returns the array. */
  shuffle<T>(items: T[]): T[];
}

/** Rounds after which the seed is mixed through the whole state of sfc32. */
const WARM_UP_ROUNDS = 15;

/** sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, one seeded word, a counter against short cycles. */
export function createRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = Math.trunc(seed / 2 ** 32) | 0;
  let c = seed | 0;
  let counter = 1;

  function word(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  for (let round = 0; round < WARM_UP_ROUNDS; round++) word();

  const next = () => word() / 2 ** 32;
  const int = (n: number) => Math.floor(next() * n);
  return {
    next,
    int,
    // Box-Muller; 1 - u keeps the logarithm away from 0.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    shuffle: (items) => {
      for (let i = items.length - 1; i > 0; i--) {
        const j = int(i + 1);
        const held = items[i]!;
        items[i] = items[j]!;
        items[j] = held;
      }
      return items;
    },
  };
}

/** Each program of a run has numbers of its own, so that they do not depend on what runs beside it. */
export function frameRandom(seed: string, frame: number): Random {
  return createRandom(seedOf(`${frame}:${seed}`));
}

/** 53 bits from a text (cyrb53, two multiplicative hashes over UTF-16 units). */
function seedOf(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (low & 0x1fffff) * 2 ** 32 + (high >>> 0);
}
