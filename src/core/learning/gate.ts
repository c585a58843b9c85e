import type { Random } from '../numeric/random.ts';
import { pairedBootstrap } from './paired-bootstrap.ts';

const DEFAULTS = {
  /** Held-back queries below which nothing is proven and hybrid search serves. */
  minimum: 10,
  /** The newest held-back queries that count; as many make a full window. */
  window: 100,
};

/** Whether the learned ranker serves, and why. */
export interface GateState {
  readonly open: boolean;
  /** Mean of learned minus hybrid over the held-back queries. */
  readonly gain: number;
  readonly ci95: readonly [number, number];
  /** Held-back queries it was measured on. */
  readonly n: number;
  /** When it was last opened or closed, in milliseconds since 1970; null if never. */
  readonly since: number | null;
}

export const CLOSED_GATE: GateState = { open: false, gain: 0, ci95: [0, 0], n: 0, since: null };

/** One number per held-back query, such as reciprocal rank or nDCG, oldest first, both in the same order. */
export interface GateEvidence {
  readonly learned: readonly number[];
  readonly hybrid: readonly number[];
}

export interface GateOptions {
  readonly random: Random;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly minimum?: number;
  readonly window?: number;
}

/**
 * The gate's next state. It opens when the whole 95 % interval of the gain lies above 0: at 0 would let in
 * a ranker that is merely hybrid search again. It closes when the whole interval lies below 0, or when
 * the mean does on a full window, or when there is too little left to judge by. In between it stays as
 * it is: opening takes proof, and staying open takes no more than doing no harm, so noise around 0
 * seldom swings it.
 */
export function decideGate(before: GateState, evidence: GateEvidence, options: GateOptions): GateState {
  const { random, now, minimum = DEFAULTS.minimum, window = DEFAULTS.window } = options;
  const learned = evidence.learned.slice(-window);
  const hybrid = evidence.hybrid.slice(-window);
  const n = learned.length;
  const { gain, ci95 } = pairedBootstrap(learned, hybrid, random);

  const hasProof = n >= minimum && gain > 0 && ci95[0] > 0;
  const hasFailed = n < minimum || ci95[1] < 0 || (n >= window && gain < 0);
  const open = before.open ? !hasFailed : hasProof;
  return { open, gain, ci95, n, since: open === before.open ? before.since : now };
}
