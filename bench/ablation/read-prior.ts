import { FEATURES, WIDTH } from '../../src/core/learning/ranker/rank-features.ts';
import type { FusionWeights } from '../../src/core/learning/terms/fusion-term.ts';

/** Start values of the fusion from little-endian float32 in base64: linear, inward, bias, outward. */
export function readPrior(base64: string): FusionWeights {
  const values = new Float32Array(Uint8Array.fromBase64(base64).buffer);
  const hidden = (values.length - FEATURES.length) / (WIDTH + 2);
  let at = 0;
  const next = (length: number) => {
    at += length;
    return values.subarray(at - length, at);
  };
  return {
    linear: next(FEATURES.length),
    inward: next(WIDTH * hidden),
    bias: next(hidden),
    outward: next(hidden),
  };
}
