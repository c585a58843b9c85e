// Fitted by scripts/fit-text-chances.ts.
import { SHIPPED_TEXT_CHANCES, type TextChances } from '../core/retrieval/text-chances.ts';

/** For each data set that the shipped chances were fitted on, the chances fitted on the others. */
const HELD_OUT: Readonly<Record<string, TextChances>> = {
  livemcp: { bias: -1.33, score: 5.34, rank: -1.18 },
  mcpbench: { bias: -1.95, score: 6.31, rank: -1.17 },
  toole: { bias: -1.19, score: 4.67, rank: -1.08 },
  toollink: { bias: -2.03, score: 6.95, rank: -0.88 },
  traject: { bias: -2.04, score: 7.05, rank: -1.15 },
  ultratool: { bias: -1.67, score: 5.86, rank: -1.06 },
};

export function textChancesFor(dataset: string): TextChances {
  return HELD_OUT[dataset] ?? SHIPPED_TEXT_CHANCES;
}
