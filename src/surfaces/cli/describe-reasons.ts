import { rankingInWords } from '../../core/vocabulary/ranking-words.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { SearchHit } from '../../engine/gateway.ts';

type Reasons = NonNullable<SearchHit['reasons']>;

const DEFAULTS = {
  /** Reasons that are told, the strongest. */
  shown: 5,
};

/** Why a tool stands where it does: what moved it most, and the past runs most like this that used it. */
export function describeReasons({ parts, runs }: Reasons): string[] {
  const strongest = parts.filter(({ moved }) => Math.abs(moved) >= 0.005).slice(0, DEFAULTS.shown);
  return [
    ...strongest.map(
      ({ name, moved }) => `${moved < 0 ? '-' : '+'}${Math.abs(moved).toFixed(2)} ${rankingInWords(name)}`,
    ),
    ...runs.map(
      ({ intent, similarity }) => `used for "${printable(intent)}" (${similarity.toFixed(3)} alike)`,
    ),
  ];
}
