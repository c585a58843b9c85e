/** How many of the best to take, and what share of them will be right by then. */
export interface SetSize {
  readonly size: number;
  readonly expectedF1: number;
}

/**
 * The number of best candidates with the greatest expected F1, given each one's chance to belong,
 * independently, greatest first (Jansche, "A maximum expected utility framework for binary sequence
 * labeling", 2007; Ye et al., "Optimizing F-measures: a tale of two approaches", 2012).
 * E[F1 of the best k] = sum over a, b of P(a of the k belong) P(b of the rest belong) 2a / (k + a + b).
 */
export function bestSize(chances: readonly number[], least = 1): SetSize {
  const n = chances.length;
  // rest[k][b]: the chance that exactly b of the candidates from k on belong.
  const rest: Float64Array[] = new Array(n + 1);
  rest[n] = Float64Array.of(1);
  for (let k = n - 1; k >= 0; k--) rest[k] = withOneMore(rest[k + 1]!, chances[k]!);
  let inside: Float64Array = Float64Array.of(1);
  let best = { size: 0, expectedF1: least === 0 ? rest[0]![0]! : -1 };
  for (let k = 1; k <= n; k++) {
    inside = withOneMore(inside, chances[k - 1]!);
    if (k < least) continue;
    const after = rest[k]!;
    let expected = 0;
    for (let a = 1; a < inside.length; a++) {
      if (inside[a]! < 1e-9) continue;
      for (let b = 0; b < after.length; b++) expected += (inside[a]! * after[b]! * 2 * a) / (k + a + b);
    }
    if (expected > best.expectedF1) best = { size: k, expectedF1: expected };
  }
  return best;
}

/** The distribution of a count once another independent event is counted too. */
function withOneMore(counts: Float64Array, chance: number): Float64Array {
  const more = new Float64Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    more[i]! += counts[i]! * (1 - chance);
    more[i + 1]! += counts[i]! * chance;
  }
  return more;
}
