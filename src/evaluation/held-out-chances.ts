// Fitted by scripts/fit-text-chances.ts.
import { SHIPPED_TEXT_CHANCES, type TextChances } from '../core/retrieval/text-chances.ts';

/** For each data set that the shipped chances were fitted on, the chances fitted on the others. */
const HELD_OUT: Readonly<Record<string, TextChances>> = {
  livemcp: { bias: -1.56, score: 4.99, rank: -0.89, lead: 10.71 },
  mcpbench: { bias: -2.28, score: 5.85, rank: -0.78, lead: 13.86 },
  toole: { bias: -1.4, score: 4.24, rank: -0.8, lead: 12.18 },
  toollink: { bias: -2.2, score: 6.71, rank: -0.69, lead: 7.76 },
  traject: { bias: -2.25, score: 6.49, rank: -0.84, lead: 11.59 },
  ultratool: { bias: -1.95, score: 5.43, rank: -0.73, lead: 12.53 },
};

export function textChancesFor(dataset: string): TextChances {
  return HELD_OUT[dataset] ?? SHIPPED_TEXT_CHANCES;
}
