/** What a model of a size needs to have seen; the largest last. */
const SIZES = [
  { traces: 0, heads: 4, hidden: 64 },
  { traces: 1_000, heads: 8, hidden: 128 },
  { traces: 10_000, heads: 12, hidden: 192 },
  { traces: 100_000, heads: 16, hidden: 256 },
] as const;

const DEFAULTS = {
  /** Heads that may serve: more would make answers wait. */
  servingHeads: 12,
};

export interface HeadSize {
  readonly heads: number;
  /** Over all heads together: 16 for each. */
  readonly hidden: number;
}

/** More traces can teach more heads: 4 to 16 by their number, at most 12 where answers wait for them. */
export function adaptiveHeads(traces: number, { isServing = true } = {}): HeadSize {
  const most = isServing ? DEFAULTS.servingHeads : Number.POSITIVE_INFINITY;
  const { heads, hidden } = SIZES.findLast((size) => traces >= size.traces && size.heads <= most) ?? SIZES[0];
  return { heads, hidden };
}
