import type { Floats } from '../../numeric/matrices.ts';

/**
 * Listwise and decoupled: the mean over right candidates p of softplus(logsumexp(wrong) - logit_p), that is,
 * each right one is told from all wrong ones by itself, and right ones never compete (InfoNCE of van den Oord
 * et al., 2018, without the positives in the denominator: Yeh et al., "Decoupled Contrastive Learning", 2022).
 * Writes weight x dLoss/dLogits to `slopes` and gives the loss, unweighted.
 */
export function listwiseLoss(
  logits: Floats,
  right: readonly number[],
  weight: number,
  slopes: Floats,
): number {
  slopes.fill(0);
  const isRight = new Set(right);
  let highest = Number.NEGATIVE_INFINITY;
  for (let t = 0; t < logits.length; t++) if (logits[t]! > highest && !isRight.has(t)) highest = logits[t]!;
  if (highest === Number.NEGATIVE_INFINITY || right.length === 0) return 0;
  let sum = 0;
  for (let t = 0; t < logits.length; t++) {
    if (isRight.has(t)) continue;
    slopes[t] = Math.exp(logits[t]! - highest);
    sum += slopes[t]!;
  }
  const wrong = highest + Math.log(sum);
  let loss = 0;
  let missed = 0;
  for (const place of right) {
    const gap = wrong - logits[place]!;
    // The chance that a wrong one is drawn rather than this one.
    const chance = 1 / (1 + Math.exp(-gap));
    loss += gap > 0 ? gap + Math.log1p(Math.exp(-gap)) : Math.log1p(Math.exp(gap));
    missed += chance;
    slopes[place] = (-weight * chance) / right.length;
  }
  const share = (weight * missed) / right.length / sum;
  for (let t = 0; t < logits.length; t++) if (!isRight.has(t)) slopes[t]! *= share;
  return loss / right.length;
}
