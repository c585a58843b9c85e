import { createRandom, type Random } from '../../core/numeric/random.ts';

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
